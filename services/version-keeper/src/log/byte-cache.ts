/** Keeps immutable bytes by name, up to a total size; what was not asked for longest goes first. */
export class ByteCache {
  readonly #limit: number;
  readonly #entries = new Map<string, Uint8Array>();
  #bytes = 0;

  /** `limitBytes` bounds the sum of all entries. */
  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /** Bytes that it holds. */
  get bytes(): number {
    return this.#bytes;
  }

  get(name: string): Uint8Array | undefined {
    const found = this.#entries.get(name);
    if (found !== undefined) {
      this.#entries.delete(name);
      this.#entries.set(name, found);
    }
    return found;
  }

  /** Keeps an entry; one that is larger than a quarter of the limit is not kept. */
  put(name: string, bytes: Uint8Array): void {
    if (bytes.length * 4 > this.#limit) {
      return;
    }
    this.drop(name);
    this.#entries.set(name, bytes);
    this.#bytes += bytes.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#limit) {
        break;
      }
      this.drop(oldest);
    }
  }

  /** Forgets an entry; an unknown one is fine. */
  drop(name: string): void {
    const found = this.#entries.get(name);
    if (found !== undefined) {
      this.#entries.delete(name);
      this.#bytes -= found.length;
    }
  }
}
