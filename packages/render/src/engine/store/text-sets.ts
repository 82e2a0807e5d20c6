import { hash } from "node:crypto";
import type { ByteWriter } from "./byte-writer.ts";
import { Column } from "./column.ts";
import { DigestHolders } from "./digest-holders.ts";
import { IntLists } from "./int-lists.ts";
import type { TextTable } from "./text-table.ts";

/** Tag of the one field of PeerSet and EndpointSet. */
const TEXT_TAG = 0x0a;
/** More changes than this are merged in one pass. */
const SINGLE_CHANGES = 8;

/** Which of a set's two states is meant: before or after the present flush. */
export type Moment = "before" | "now";

/** Net difference that the present flush made to a set. */
export interface SetChange {
  /** In byte order. */
  readonly added: readonly number[];
  /** In byte order. */
  readonly removed: readonly number[];
  /** Digest before, if it was ever computed. */
  readonly digest: string | undefined;
}

/** Options of `TextSets`. */
export interface TextSetsOptions {
  /** Byte that a set is hashed with. */
  readonly type: number;
  readonly texts: TextTable;
  readonly writer: ByteWriter;
}

/**
 * Sorted sets of texts, named by small integers. A set changes at most once in a flush and remembers
 * what it was before. Its digest is computed when somebody asks for it, and found again by it.
 */
export class TextSets {
  readonly #type: number;
  readonly #texts: TextTable;
  readonly #writer: ByteWriter;
  readonly #lists = new IntLists();
  /** Bytes of each set as a message. */
  readonly #bytes = new Column();
  /** Digest as 32 Latin-1 characters; undefined until it is asked for. */
  readonly #digests: (string | undefined)[] = [];
  readonly #changes = new Map<number, SetChange>();
  readonly #byDigest = new DigestHolders((set) => this.#digests[set]);
  readonly #beforeByDigest = new Map<string, number>();
  #mostTexts = 0;
  #mostBytes = 0;

  constructor({ type, texts, writer }: TextSetsOptions) {
    this.#type = type;
    this.#texts = texts;
    this.#writer = writer;
  }

  /** Makes room for so many sets, known beforehand. */
  reserve(sets: number): void {
    this.#lists.reserve(sets, sets);
    this.#bytes.reserve(sets);
    this.#byDigest.reserve(sets);
    this.#digests.length = Math.max(this.#digests.length, sets);
  }

  size(set: number): number {
    return this.#lists.length(set);
  }

  /** No set has more texts than this, nor ever had. */
  get mostTexts(): number {
    return this.#mostTexts;
  }

  /** No set has more bytes as a message than this, nor ever had. */
  get mostBytes(): number {
    return this.#mostBytes;
  }

  /** Bytes of the set as a message. */
  bytes(set: number): number {
    return this.#bytes.at(set);
  }

  /** Place of a text in a set, or -1 - the place where it belongs. */
  find(set: number, text: number): number {
    const { items } = this.#lists;
    const start = this.#lists.start(set);
    let low = 0;
    let high = this.#lists.length(set);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#texts.compare(items[start + middle] ?? 0, text);
      if (order === 0) {
        return middle;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return -1 - low;
  }

  /** Texts of a set before or after the present flush, in byte order. */
  members(set: number, moment: Moment): ArrayLike<number> {
    const change = moment === "before" ? this.#changes.get(set) : undefined;
    const now = this.#lists.toArray(set);
    return change === undefined ? now : this.#merge(now, change.removed, change.added);
  }

  /** What the present flush did to a set; undefined if nothing. */
  changeOf(set: number): SetChange | undefined {
    return this.#changes.get(set);
  }

  /** Fills a set that is empty with texts in byte order. */
  fill(set: number, texts: ArrayLike<number>, length = texts.length): void {
    this.#lists.fill(set, texts, length);
    this.#putBytes(set, this.#sum(texts, length));
  }

  /** Appends a text that is above all others to a set that is being filled. */
  append(set: number, text: number): void {
    this.#lists.push(set, text);
    this.#putBytes(set, this.bytes(set) + this.#texts.fieldBytes(text));
  }

  /** The last text of a set; undefined if it is empty. */
  last(set: number): number | undefined {
    const length = this.#lists.length(set);
    return length === 0 ? undefined : this.#lists.at(set, length - 1);
  }

  /** Adds texts that are not in the set and removes texts that are, both in any order. */
  change(set: number, added: number[], removed: number[]): void {
    this.#remember(set, this.#sort(added), this.#sort(removed));
    if (added.length + removed.length > SINGLE_CHANGES) {
      this.#lists.fill(set, this.#merge(this.#lists.toArray(set), added, removed));
    } else {
      for (const text of removed) {
        this.#lists.remove(set, this.find(set, text));
      }
      for (const text of added) {
        this.#lists.insert(set, -1 - this.find(set, text), text);
      }
    }
    const difference = this.#sum(added, added.length) - this.#sum(removed, removed.length);
    this.#putBytes(set, this.bytes(set) + difference);
  }

  /** Replaces a set by texts in byte order; true if that made a difference. */
  replace(set: number, texts: ArrayLike<number>): boolean {
    const { added, removed } = this.difference(this.#lists.toArray(set), texts);
    if (added.length + removed.length === 0) {
      return false;
    }
    this.#remember(set, added, removed);
    this.fill(set, texts);
    return true;
  }

  /** Texts of only one of two lists in byte order. */
  difference(
    before: ArrayLike<number>,
    after: ArrayLike<number>,
  ): { added: number[]; removed: number[] } {
    const added: number[] = [];
    const removed: number[] = [];
    let left = 0;
    let right = 0;
    while (left < before.length || right < after.length) {
      const from = before[left];
      const to = after[right];
      const order = from === undefined ? 1 : to === undefined ? -1 : this.#texts.compare(from, to);
      if (order < 0 && from !== undefined) {
        removed.push(from);
      } else if (order > 0 && to !== undefined) {
        added.push(to);
      }
      left += order <= 0 ? 1 : 0;
      right += order >= 0 ? 1 : 0;
    }
    return { added, removed };
  }

  /** Digest of a set before or after the present flush, as 32 Latin-1 characters. */
  digest(set: number, moment: Moment = "now"): string {
    const change = moment === "before" ? this.#changes.get(set) : undefined;
    if (change !== undefined) {
      return change.digest ?? "";
    }
    let digest = this.#digests[set];
    if (digest === undefined) {
      this.#writer.reset();
      this.#writer.byte(this.#type);
      this.#write(this.#lists.items, this.#lists.start(set), this.#lists.length(set));
      digest = hash("sha256", this.#writer.view(), "binary");
      this.#writer.reset();
      this.#digests[set] = digest;
      this.#byDigest.add(digest, set);
    }
    return digest;
  }

  /** Bytes of the set with this digest, now or before the present flush. */
  encode(digest: string): Uint8Array<ArrayBuffer> | undefined {
    const set = this.#byDigest.first(digest);
    const before = set === undefined ? this.#beforeByDigest.get(digest) : undefined;
    if (set === undefined && before === undefined) {
      return undefined;
    }
    this.#writer.reset();
    const members = this.members(set ?? before ?? 0, set === undefined ? "before" : "now");
    this.#write(members, 0, members.length);
    return this.#writer.take();
  }

  /** Empties a set and forgets all about it. */
  drop(set: number): void {
    this.#forgetDigest(set);
    this.#lists.clear(set);
    this.#bytes.put(set, 0);
  }

  /** Forgets what sets were before the flush that ended. */
  settle(): void {
    this.#changes.clear();
    this.#beforeByDigest.clear();
  }

  /** Called after each change of a set. */
  #putBytes(set: number, bytes: number): void {
    this.#bytes.put(set, bytes);
    this.#mostBytes = Math.max(this.#mostBytes, bytes);
    this.#mostTexts = Math.max(this.#mostTexts, this.#lists.length(set));
  }

  #remember(set: number, added: number[], removed: number[]): void {
    const digest = this.#digests[set];
    this.#changes.set(set, { added, removed, digest });
    if (digest !== undefined) {
      this.#forgetDigest(set);
      this.#beforeByDigest.set(digest, set);
    }
  }

  #forgetDigest(set: number): void {
    const digest = this.#digests[set];
    if (digest !== undefined) {
      this.#byDigest.remove(digest, set);
      this.#digests[set] = undefined;
    }
  }

  #write(texts: ArrayLike<number>, start: number, length: number): void {
    for (let index = start; index < start + length; index++) {
      this.#texts.writeField(texts[index] ?? 0, TEXT_TAG, this.#writer);
    }
  }

  #sort(texts: number[]): number[] {
    return texts.length < 2 ? texts : texts.sort((a, b) => this.#texts.compare(a, b));
  }

  #sum(texts: ArrayLike<number>, length: number): number {
    let bytes = 0;
    for (let index = 0; index < length; index++) {
      bytes += this.#texts.fieldBytes(texts[index] ?? 0);
    }
    return bytes;
  }

  /** Texts in byte order with some added and some removed. */
  #merge(
    texts: ArrayLike<number>,
    added: readonly number[],
    removed: readonly number[],
  ): Int32Array {
    const merged = new Int32Array(texts.length + added.length - removed.length);
    let length = 0;
    let next = 0;
    let gone = 0;
    for (let index = 0; index < texts.length; index++) {
      const text = texts[index] ?? 0;
      if (gone < removed.length && removed[gone] === text) {
        gone += 1;
        continue;
      }
      for (; next < added.length && this.#texts.compare(added[next] ?? 0, text) < 0; next++) {
        merged[length++] = added[next] ?? 0;
      }
      merged[length++] = text;
    }
    for (; next < added.length; next++) {
      merged[length++] = added[next] ?? 0;
    }
    return merged;
  }
}
