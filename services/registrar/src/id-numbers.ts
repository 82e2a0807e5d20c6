/** Small numbers for ids, so that sets of ids are bits. A number is used again once it is released. */
export class IdNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #free: number[] = [];
  #next = 0;

  /** The number of an id; a new one if it has none. */
  of(id: string): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) {
      return known;
    }
    const number = this.#free.pop() ?? this.#next;
    if (number === this.#next) {
      this.#next += 1;
    }
    this.#numbers.set(id, number);
    return number;
  }

  /** Gives the number of an id back. */
  release(id: string): void {
    const number = this.#numbers.get(id);
    if (number !== undefined) {
      this.#numbers.delete(id);
      this.#free.push(number);
    }
  }

  clear(): void {
    this.#numbers.clear();
    this.#free.length = 0;
    this.#next = 0;
  }
}

/** A growing set of small numbers. */
export class BitSet {
  #words = new Uint32Array(0);

  has(number: number): boolean {
    return (((this.#words[number >>> 5] ?? 0) >>> (number & 31)) & 1) === 1;
  }

  add(number: number): void {
    const word = number >>> 5;
    if (word >= this.#words.length) {
      const grown = new Uint32Array(Math.max(word + 1, this.#words.length * 2));
      grown.set(this.#words);
      this.#words = grown;
    }
    this.#words[word] = (this.#words[word] ?? 0) | (1 << (number & 31));
  }

  delete(number: number): void {
    const word = number >>> 5;
    if (word < this.#words.length) {
      this.#words[word] = (this.#words[word] ?? 0) & ~(1 << (number & 31));
    }
  }
}
