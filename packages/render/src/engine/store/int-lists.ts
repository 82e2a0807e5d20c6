import { Column } from "./column.ts";

const INITIAL_LENGTH = 256;
const NONE = -1;
/** Powers of two that a list's room can be. */
const ROOMS = 31;

/**
 * Many growing lists of 32-bit integers in one array. A list is named by a small integer; one that
 * was never written is empty. Room is a power of two and is used again once a list let go of it.
 */
export class IntLists {
  #items = new Int32Array(INITIAL_LENGTH);
  #end = 0;
  readonly #start = new Column();
  readonly #length = new Column();
  readonly #room = new Column();
  /** First free place of each power of two; the next one stands in its first item. */
  readonly #free = new Int32Array(ROOMS).fill(NONE);

  length(list: number): number {
    return this.#length.at(list);
  }

  at(list: number, index: number): number {
    return this.#items[this.#start.at(list) + index] ?? 0;
  }

  put(list: number, index: number, value: number): void {
    this.#items[this.#start.at(list) + index] = value;
  }

  /** Every list's items; those of one list begin at `start`. Good until the next write. */
  get items(): Int32Array {
    return this.#items;
  }

  /** Where a list's items begin. */
  start(list: number): number {
    return this.#start.at(list);
  }

  /** Appends a value and returns its place. */
  push(list: number, value: number): number {
    const length = this.#length.at(list);
    this.#reserve(list, length + 1);
    this.#items[this.#start.at(list) + length] = value;
    this.#length.put(list, length + 1);
    return length;
  }

  /** Inserts a value before an index; what follows moves up. */
  insert(list: number, index: number, value: number): void {
    const length = this.#length.at(list);
    this.#reserve(list, length + 1);
    const start = this.#start.at(list);
    this.#items.copyWithin(start + index + 1, start + index, start + length);
    this.#items[start + index] = value;
    this.#length.put(list, length + 1);
  }

  /** Removes the value at an index; what follows moves down. */
  remove(list: number, index: number): void {
    const length = this.#length.at(list);
    const start = this.#start.at(list);
    this.#items.copyWithin(start + index, start + index + 1, start + length);
    this.#length.put(list, length - 1);
  }

  /** Removes the value at an index; the last one takes its place and is returned. */
  swapOut(list: number, index: number): number {
    const last = this.#length.at(list) - 1;
    const moved = this.at(list, last);
    this.put(list, index, moved);
    this.#length.put(list, last);
    return moved;
  }

  /** Replaces a list by the first `length` values. */
  fill(list: number, values: ArrayLike<number>, length = values.length): void {
    if (length === 0) {
      this.clear(list);
      return;
    }
    this.#length.put(list, 0);
    this.#reserve(list, length);
    const start = this.#start.at(list);
    for (let index = 0; index < length; index++) {
      this.#items[start + index] = values[index] ?? 0;
    }
    this.#length.put(list, length);
  }

  /** Empties a list and lets go of its room. */
  clear(list: number): void {
    const room = this.#room.at(list);
    if (room > 0) {
      this.#release(this.#start.at(list), room);
      this.#room.put(list, 0);
      this.#length.put(list, 0);
    }
  }

  /** Empties a list and keeps its room. */
  truncate(list: number): void {
    this.#length.put(list, 0);
  }

  /** A copy of one list. */
  toArray(list: number): Int32Array<ArrayBuffer> {
    const start = this.#start.at(list);
    return this.#items.slice(start, start + this.#length.at(list));
  }

  /** Makes room for at least this many values. */
  #reserve(list: number, needed: number): void {
    const room = this.#room.at(list);
    if (needed <= room) {
      return;
    }
    const power = 32 - Math.clz32(needed - 1);
    const start = this.#take(power);
    const length = this.#length.at(list);
    if (room > 0) {
      const before = this.#start.at(list);
      this.#items.copyWithin(start, before, before + length);
      this.#release(before, room);
    }
    this.#start.put(list, start);
    this.#room.put(list, 2 ** power);
    this.#length.put(list, length);
  }

  #take(power: number): number {
    const free = this.#free[power] ?? NONE;
    if (free !== NONE) {
      this.#free[power] = this.#items[free] ?? NONE;
      return free;
    }
    const start = this.#end;
    this.#end += 2 ** power;
    if (this.#end > this.#items.length) {
      const larger = new Int32Array(Math.max(this.#end, Math.ceil(this.#items.length * 1.5)));
      larger.set(this.#items);
      this.#items = larger;
    }
    return start;
  }

  #release(start: number, room: number): void {
    const power = 31 - Math.clz32(room);
    this.#items[start] = this.#free[power] ?? NONE;
    this.#free[power] = start;
  }
}
