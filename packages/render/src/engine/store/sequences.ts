import { Column } from "./column.ts";
import { Ids } from "./ids.ts";
import { IntLists } from "./int-lists.ts";

const INITIAL_SLOTS = 256;

/** Interns sequences of integers: equal ones have one id. The order of items counts. */
export class Sequences {
  readonly #ids = new Ids();
  readonly #lists = new IntLists();
  readonly #hashes = new Column();
  /** Open addressing with linear probing; a slot holds id + 1, 0 is free. */
  #slots = new Int32Array(INITIAL_SLOTS);
  #created = false;

  /** Makes room for so many sequences of so many items each, known beforehand. */
  reserve(count: number, items: number): void {
    this.#lists.reserve(count, count * items);
    this.#hashes.reserve(count);
    let slots = this.#slots.length;
    while (slots < count * 2) {
      slots *= 4;
    }
    if (slots > this.#slots.length) {
      this.#rehash(slots);
    }
  }

  /** True if the last `intern` made a new id. */
  get created(): boolean {
    return this.#created;
  }

  /** One more than the highest id. */
  get bound(): number {
    return this.#ids.bound;
  }

  get size(): number {
    return this.#ids.size;
  }

  length(id: number): number {
    return this.#lists.length(id);
  }

  at(id: number, index: number): number {
    return this.#lists.at(id, index);
  }

  /** Every sequence's items; those of one begin at `start`. Good until the next write. */
  get items(): Int32Array {
    return this.#lists.items;
  }

  start(id: number): number {
    return this.#lists.start(id);
  }

  /** The id of the first `length` values. */
  intern(values: ArrayLike<number>, length = values.length): number {
    const hash = hashOf(values, length);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const held = this.#slots[slot] ?? 0;
      if (held === 0) {
        break;
      }
      if (this.#hashes.at(held - 1) === hash && this.#equals(held - 1, values, length)) {
        this.#created = false;
        return held - 1;
      }
      slot = (slot + 1) & mask;
    }
    const id = this.#ids.take();
    this.#lists.fill(id, values, length);
    this.#hashes.put(id, hash);
    this.#slots[slot] = id + 1;
    this.#created = true;
    if (this.#ids.size * 2 > this.#slots.length) {
      this.#rehash(this.#slots.length * 4);
    }
    return id;
  }

  /** Forgets a sequence; its id is handed out again. */
  remove(id: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#hashes.at(id) & mask;
    while (this.#slots[slot] !== id + 1) {
      slot = (slot + 1) & mask;
    }
    this.#closeGap(slot);
    this.#lists.clear(id);
    this.#ids.give(id);
  }

  /** Moves later entries of a probe chain into a slot that became free. */
  #closeGap(freed: number): void {
    const mask = this.#slots.length - 1;
    let gap = freed;
    let slot = freed;
    for (;;) {
      slot = (slot + 1) & mask;
      const held = this.#slots[slot] ?? 0;
      if (held === 0) {
        this.#slots[gap] = 0;
        return;
      }
      const home = this.#hashes.at(held - 1) & mask;
      // An entry may move back to the gap if its home is not behind it.
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        this.#slots[gap] = held;
        gap = slot;
      }
    }
  }

  #equals(id: number, values: ArrayLike<number>, length: number): boolean {
    if (this.#lists.length(id) !== length) {
      return false;
    }
    const { items } = this.#lists;
    const start = this.#lists.start(id);
    for (let index = 0; index < length; index++) {
      if (items[start + index] !== values[index]) {
        return false;
      }
    }
    return true;
  }

  #rehash(length: number): void {
    const before = this.#slots;
    this.#slots = new Int32Array(length);
    const mask = this.#slots.length - 1;
    for (const held of before) {
      if (held !== 0) {
        let slot = this.#hashes.at(held - 1) & mask;
        while (this.#slots[slot] !== 0) {
          slot = (slot + 1) & mask;
        }
        this.#slots[slot] = held;
      }
    }
  }
}

function hashOf(values: ArrayLike<number>, length: number): number {
  let hash = Math.imul(length + 1, 0x9e3779b1);
  for (let index = 0; index < length; index++) {
    hash = Math.imul((hash ^ (values[index] ?? 0)) >>> 0, 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
