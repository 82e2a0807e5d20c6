import { compareBytes } from "@ringwall/labels";
import { normalizeCidr } from "@ringwall/rendered";
import type { ByteWriter } from "./byte-writer.ts";
import { Column } from "./column.ts";
import { Ids } from "./ids.ts";
import { KEYED_LENGTH, readKeys, type TextKeys } from "./text-keys.ts";

/** Bytes kept for a keyed text: its length and its characters. */
const STRIDE = KEYED_LENGTH + 2;
const INITIAL_ROOM = 256;
const INITIAL_SLOTS = 512;

/**
 * Interns texts, most of them addresses, and knows their byte order. A text that its sort keys hold
 * whole lives as a few bytes and no string; any other one is kept as a string.
 */
export class TextTable {
  readonly #ids = new Ids();
  readonly #references = new Column();
  #high = new Float64Array(INITIAL_ROOM);
  #low = new Float64Array(INITIAL_ROOM);
  #bytes = new Uint8Array(INITIAL_ROOM * STRIDE);
  /** Texts that are not held by their keys. */
  readonly #strings = new Map<number, string>();
  readonly #byString = new Map<string, number>();
  /** Keyed texts, open addressing; a slot holds id + 1. */
  #slots = new Int32Array(INITIAL_SLOTS);
  #keyed = 0;
  /** Texts whose last reference went; they live until `sweep`. */
  #unused: number[] = [];
  readonly #keys: TextKeys = { high: 0, low: 0, exact: false };

  /** Makes room for so many texts, known beforehand. */
  reserve(count: number): void {
    this.#references.reserve(count);
    if (count > this.#high.length) {
      this.#grow(count);
    }
    let slots = this.#slots.length;
    while (slots < count * 2) {
      slots *= 4;
    }
    if (slots > this.#slots.length) {
      this.#rehash(slots);
    }
  }

  /** One more than the highest id. */
  get bound(): number {
    return this.#ids.bound;
  }

  /** Texts that are held. */
  get size(): number {
    return this.#ids.size;
  }

  /** Interns the canonical form of a peer and takes a reference to it. */
  holdCidr(text: string): number {
    return this.hold(isBareIpv4(text) ? `${text}/32` : normalizeCidr(text));
  }

  /** Interns a text and takes a reference to it. */
  hold(text: string): number {
    const keys = this.#keys;
    readKeys(text, keys);
    const id = keys.exact ? this.#internKeyed(text) : this.#internString(text);
    this.#references.add(id, 1);
    return id;
  }

  /** Lets go of one reference. */
  release(id: number): void {
    if (this.#references.add(id, -1) === 0) {
      this.#unused.push(id);
    }
  }

  /** Forgets texts that nobody holds. */
  sweep(): void {
    for (const id of new Set(this.#unused)) {
      if (this.#references.at(id) === 0) {
        this.#forget(id);
      }
    }
    this.#unused = [];
  }

  /** Negative, zero or positive: the byte order of two texts. */
  compare(a: number, b: number): number {
    if (a === b) {
      return 0;
    }
    // Small results only: a difference of keys would be a number on the heap.
    const high = (this.#high[a] ?? 0) - (this.#high[b] ?? 0);
    if (high !== 0) {
      return high < 0 ? -1 : 1;
    }
    const low = (this.#low[a] ?? 0) - (this.#low[b] ?? 0);
    if (low !== 0) {
      return low < 0 ? -1 : 1;
    }
    return compareBytes(this.text(a), this.text(b));
  }

  text(id: number): string {
    const string = this.#strings.get(id);
    if (string !== undefined) {
      return string;
    }
    const start = id * STRIDE;
    return String.fromCharCode(
      ...this.#bytes.subarray(start + 1, start + 1 + (this.#bytes[start] ?? 0)),
    );
  }

  /** Bytes of one entry of a repeated text field: tag, length and text. */
  fieldBytes(id: number): number {
    const length = this.#bytes[id * STRIDE] ?? 0;
    if (length > 0) {
      return length + 2;
    }
    const bytes = Buffer.byteLength(this.#strings.get(id) ?? "");
    return bytes + (bytes < 128 ? 2 : bytes < 16_384 ? 3 : 4);
  }

  /** Writes one entry of a repeated text field. */
  writeField(id: number, tag: number, writer: ByteWriter): void {
    const start = id * STRIDE;
    if ((this.#bytes[start] ?? 0) > 0) {
      writer.shortText(tag, this.#bytes, start);
    } else {
      writer.text(tag, this.#strings.get(id) ?? "");
    }
  }

  #internKeyed(text: string): number {
    const { high, low } = this.#keys;
    const mask = this.#slots.length - 1;
    let slot = hashOf(high, low) & mask;
    for (;;) {
      const held = this.#slots[slot] ?? 0;
      if (held === 0) {
        break;
      }
      if (this.#high[held - 1] === high && this.#low[held - 1] === low) {
        return held - 1;
      }
      slot = (slot + 1) & mask;
    }
    const id = this.#take();
    this.#slots[slot] = id + 1;
    const start = id * STRIDE;
    this.#bytes[start] = text.length;
    for (let index = 0; index < text.length; index++) {
      this.#bytes[start + 1 + index] = text.charCodeAt(index);
    }
    this.#keyed += 1;
    if (this.#keyed * 2 > this.#slots.length) {
      this.#rehash(this.#slots.length * 4);
    }
    return id;
  }

  #internString(text: string): number {
    const known = this.#byString.get(text);
    if (known !== undefined) {
      return known;
    }
    const id = this.#take();
    this.#bytes[id * STRIDE] = 0;
    this.#strings.set(id, text);
    this.#byString.set(text, id);
    return id;
  }

  /** A new id with the keys just read. */
  #take(): number {
    const id = this.#ids.take();
    if (id >= this.#high.length) {
      this.#grow(this.#high.length * 2);
    }
    this.#high[id] = this.#keys.high;
    this.#low[id] = this.#keys.low;
    this.#references.put(id, 0);
    return id;
  }

  #forget(id: number): void {
    const string = this.#strings.get(id);
    if (string === undefined) {
      this.#freeSlot(id);
      this.#keyed -= 1;
    } else {
      this.#strings.delete(id);
      this.#byString.delete(string);
    }
    this.#ids.give(id);
  }

  /** What is left behind is free at once, as in `withRoom`. */
  #grow(room: number): void {
    const { buffer: high } = this.#high;
    const { buffer: low } = this.#low;
    const { buffer: bytes } = this.#bytes;
    this.#high = new Float64Array(room);
    this.#high.set(new Float64Array(high));
    this.#low = new Float64Array(room);
    this.#low.set(new Float64Array(low));
    this.#bytes = new Uint8Array(room * STRIDE);
    this.#bytes.set(new Uint8Array(bytes));
    for (const buffer of [high, low, bytes]) {
      buffer.transfer(0);
    }
  }

  #homeOf(id: number): number {
    return hashOf(this.#high[id] ?? 0, this.#low[id] ?? 0) & (this.#slots.length - 1);
  }

  #freeSlot(id: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#homeOf(id);
    while (this.#slots[slot] !== id + 1) {
      slot = (slot + 1) & mask;
    }
    let gap = slot;
    for (;;) {
      slot = (slot + 1) & mask;
      const held = this.#slots[slot] ?? 0;
      if (held === 0) {
        this.#slots[gap] = 0;
        return;
      }
      if (((slot - this.#homeOf(held - 1)) & mask) >= ((slot - gap) & mask)) {
        this.#slots[gap] = held;
        gap = slot;
      }
    }
  }

  #rehash(length: number): void {
    const before = this.#slots;
    this.#slots = new Int32Array(length);
    const mask = length - 1;
    for (const held of before) {
      if (held !== 0) {
        let slot = this.#homeOf(held - 1);
        while (this.#slots[slot] !== 0) {
          slot = (slot + 1) & mask;
        }
        this.#slots[slot] = held;
      }
    }
  }
}

/** Both keys are integers below 2^50. */
function hashOf(high: number, low: number): number {
  const upper = Math.floor(high / 0x1_0000_0000);
  let hash = Math.imul(upper ^ 0x9e3779b1, 0x85ebca6b) ^ (high >>> 0);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35) ^ (low >>> 0);
  hash = Math.imul(hash ^ (hash >>> 13), 0x27d4eb2f) ^ Math.floor(low / 0x1_0000_0000);
  hash = Math.imul(hash ^ (hash >>> 15), 0x165667b1);
  return hash ^ (hash >>> 16);
}

/** True for a dotted IPv4 address in its only canonical form. */
function isBareIpv4(text: string): boolean {
  if (text.length < 7 || text.length > 15) {
    return false;
  }
  let octet = -1;
  let dots = 0;
  for (let index = 0; index < text.length; index++) {
    const digit = text.charCodeAt(index) - 48;
    if (digit >= 0 && digit <= 9) {
      if (octet === 0) {
        return false;
      }
      octet = octet < 0 ? digit : octet * 10 + digit;
      if (octet > 255) {
        return false;
      }
    } else if (digit === -2 && octet >= 0 && dots < 3) {
      dots += 1;
      octet = -1;
    } else {
      return false;
    }
  }
  return dots === 3 && octet >= 0;
}
