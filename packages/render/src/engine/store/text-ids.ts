const INITIAL_SLOTS = 16;
/** A slot's two numbers side by side: the id + 1, or 0 if it is free, and the hash of its text. */
const SLOT = 2;
const HELD = 0;
const HASH = 1;

/** What `TextIds` is made with. */
export interface TextIdsOptions {
  /** The text of an id that was added. */
  readonly textOf: (id: number) => string | undefined;
  /** Characters that are hashed: so many of the first ones tell nearly all texts apart. */
  readonly hashed: number;
}

/**
 * Finds small integers by text. Where a map reads several places in memory for each text, this reads
 * one; and it makes no garbage, while the tables that a map discards keep each other's entries alive.
 */
export class TextIds {
  readonly #textOf: (id: number) => string | undefined;
  readonly #hashed: number;
  /** Open addressing with linear probing. */
  #slots = new Int32Array(INITIAL_SLOTS * SLOT);
  #size = 0;
  /** The text that was looked for last and its hash: what is not found is added next. */
  #lastText = "";
  #lastHash = 0;

  constructor({ textOf, hashed }: TextIdsOptions) {
    this.#textOf = textOf;
    this.#hashed = hashed;
  }

  get size(): number {
    return this.#size;
  }

  /** Makes room for so many texts, known beforehand. */
  reserve(count: number): void {
    let length = this.#slots.length;
    while (length < count * 2 * SLOT) {
      length *= 2;
    }
    if (length > this.#slots.length) {
      this.#grow(length);
    }
  }

  /** The id of a text; -1 if there is none. */
  find(text: string): number {
    const hash = this.#hashOf(text);
    for (let slot = this.#home(hash); ; slot = this.#after(slot)) {
      const id = (this.#slots[slot + HELD] ?? 0) - 1;
      if (id < 0 || (this.#slots[slot + HASH] === hash && this.#textOf(id) === text)) {
        return id;
      }
    }
  }

  /** Adds a text that is not there, under an id that no other one has. */
  add(text: string, id: number): void {
    this.#put(id, this.#hashOf(text));
    this.#size += 1;
    if (this.#size * 2 * SLOT > this.#slots.length) {
      this.#grow(this.#slots.length * 4);
    }
  }

  /** Forgets a text that is there under an id. */
  remove(text: string, id: number): void {
    let slot = this.#home(this.#hashOf(text));
    while (this.#slots[slot + HELD] !== id + 1) {
      if (this.#slots[slot + HELD] === 0) {
        throw new Error(`no text ${JSON.stringify(text)} with id ${id} to forget`);
      }
      slot = this.#after(slot);
    }
    this.#closeGap(slot);
    this.#size -= 1;
  }

  #hashOf(text: string): number {
    if (text !== this.#lastText) {
      this.#lastText = text;
      this.#lastHash = hashOf(text, this.#hashed);
    }
    return this.#lastHash;
  }

  #put(id: number, hash: number): void {
    let slot = this.#home(hash);
    while (this.#slots[slot + HELD] !== 0) {
      slot = this.#after(slot);
    }
    this.#slots[slot + HELD] = id + 1;
    this.#slots[slot + HASH] = hash;
  }

  #home(hash: number): number {
    return (hash * SLOT) & (this.#slots.length - 1);
  }

  #after(slot: number): number {
    return (slot + SLOT) & (this.#slots.length - 1);
  }

  /** Moves later entries of a probe chain into a slot that became free. */
  #closeGap(freed: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let gap = freed;
    for (let slot = this.#after(freed); slots[slot + HELD] !== 0; slot = this.#after(slot)) {
      const hash = slots[slot + HASH] ?? 0;
      // An entry may move back to the gap if its home is not behind it.
      if (((slot - this.#home(hash)) & mask) >= ((slot - gap) & mask)) {
        slots[gap + HELD] = slots[slot + HELD] ?? 0;
        slots[gap + HASH] = hash;
        gap = slot;
      }
    }
    slots[gap + HELD] = 0;
  }

  #grow(length: number): void {
    const before = this.#slots;
    this.#slots = new Int32Array(length);
    for (let slot = 0; slot < before.length; slot += SLOT) {
      const held = before[slot + HELD] ?? 0;
      if (held !== 0) {
        this.#put(held - 1, before[slot + HASH] ?? 0);
      }
    }
  }
}

/** Below 2^30, so that a slot's place is a small integer. */
function hashOf(text: string, hashed: number): number {
  const length = Math.min(text.length, hashed);
  let hash = length;
  for (let index = 0; index < length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  return hash & 0x3fff_ffff;
}
