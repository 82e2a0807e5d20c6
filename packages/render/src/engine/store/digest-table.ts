const INITIAL_SLOTS = 256;
/** A slot's two numbers side by side: the id + 1, or 0 if it is free, and the hash of its digest. */
const SLOT = 2;
const HELD = 0;
const HASH = 1;
/** Characters of a digest that are enough of a hash: 32 bits of hexadecimal digits. */
const HASHED = 8;

/**
 * Finds small integers by digest, each digest once. Unlike a map it makes no garbage: a flush replaces
 * thousands of digests, and the tables that a map leaves behind keep each other's entries alive.
 */
export class DigestTable {
  readonly #digests: string[] = [];
  /** Open addressing with linear probing. */
  #slots = new Int32Array(INITIAL_SLOTS * SLOT);
  #size = 0;

  /** The id of a digest; -1 if there is none. */
  find(digest: string): number {
    const hash = hashOf(digest);
    for (let slot = this.#home(hash); ; slot = this.#after(slot)) {
      const id = (this.#slots[slot + HELD] ?? 0) - 1;
      if (id < 0 || (this.#slots[slot + HASH] === hash && this.#digests[id] === digest)) {
        return id;
      }
    }
  }

  /** Adds a digest that is not there, under an id that no other one has. */
  add(digest: string, id: number): void {
    this.#digests[id] = digest;
    this.#put(id, hashOf(digest));
    this.#size += 1;
    if (this.#size * 2 * SLOT > this.#slots.length) {
      this.#grow();
    }
  }

  /** Forgets a digest that is there under an id. */
  remove(digest: string, id: number): void {
    let slot = this.#home(hashOf(digest));
    while (this.#slots[slot + HELD] !== id + 1) {
      slot = this.#after(slot);
    }
    this.#closeGap(slot);
    this.#digests[id] = "";
    this.#size -= 1;
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

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(before.length * 4);
    for (let slot = 0; slot < before.length; slot += SLOT) {
      const held = before[slot + HELD] ?? 0;
      if (held !== 0) {
        this.#put(held - 1, before[slot + HASH] ?? 0);
      }
    }
  }
}

/** Below 2^30, so that a slot's place is a small integer. */
function hashOf(digest: string): number {
  let hash = 0;
  for (let index = 0; index < HASHED; index++) {
    hash = Math.imul(hash ^ digest.charCodeAt(index), 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  return hash & 0x3fff_ffff;
}
