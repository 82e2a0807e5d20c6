import type { TextTable } from "./text-table.ts";

const RUN_LENGTH = 8;
/** Texts merged between two yields. */
const TEXTS_PER_STEP = 32_768;

/** Sorts texts in byte order, in slices; returns them in one of two arrays. */
export function* sortTexts(
  ids: Int32Array<ArrayBuffer>,
  texts: TextTable,
): Generator<void, Int32Array> {
  for (let start = 0; start < ids.length; start += RUN_LENGTH) {
    insertionSort(ids, start, Math.min(start + RUN_LENGTH, ids.length), texts);
  }
  let from = ids;
  let to = new Int32Array(ids.length);
  let done = 0;
  for (let width = RUN_LENGTH; width < ids.length; width *= 2) {
    for (let start = 0; start < ids.length; start += 2 * width) {
      const middle = Math.min(start + width, ids.length);
      const end = Math.min(start + 2 * width, ids.length);
      merge(from, to, { start, middle, end }, texts);
      done += end - start;
      if (done > TEXTS_PER_STEP) {
        done = 0;
        yield;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Sorts a few texts in place. */
export function insertionSort(
  ids: Int32Array | number[],
  start: number,
  end: number,
  texts: TextTable,
): void {
  for (let index = start + 1; index < end; index++) {
    const id = ids[index] ?? 0;
    let at = index - 1;
    while (at >= start && texts.compare(ids[at] ?? 0, id) > 0) {
      ids[at + 1] = ids[at] ?? 0;
      at -= 1;
    }
    ids[at + 1] = id;
  }
}

interface Halves {
  readonly start: number;
  readonly middle: number;
  readonly end: number;
}

function merge(
  from: Int32Array,
  to: Int32Array,
  { start, middle, end }: Halves,
  texts: TextTable,
): void {
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    const takesLeft =
      right >= end || (left < middle && texts.compare(from[left] ?? 0, from[right] ?? 0) <= 0);
    to[at] = (takesLeft ? from[left++] : from[right++]) ?? 0;
  }
}
