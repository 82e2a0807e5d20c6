interface Entry<T> {
  readonly value: T;
  readonly weight: number;
  /** When it last became the newest, in moves. */
  move: number;
}

/** Keeps values by name up to a total weight; what was not asked for for long goes first. */
export class Lru<T> {
  readonly #limit: number;
  readonly #weigh: (value: T) => number;
  readonly #entries = new Map<string, Entry<T>>();
  #weight = 0;
  /** Counts how often an entry became the newest. */
  #moves = 0;

  /** `limit` bounds the sum of `weigh` over all values; a value above it is kept alone. */
  constructor(limit: number, weigh: (value: T) => number) {
    this.#limit = limit;
    this.#weigh = weigh;
  }

  /** Sum of the weights. */
  get weight(): number {
    return this.#weight;
  }

  /** Number of values. */
  get size(): number {
    return this.#entries.size;
  }

  /** The value of this name, which counts as asked for now. */
  get(name: string): T | undefined {
    const found = this.#entries.get(name);
    if (found === undefined) {
      return undefined;
    }
    // One that is among the newer half stays where it is: most are asked for again and again.
    if (this.#moves - found.move > this.#entries.size / 2) {
      this.#moves += 1;
      found.move = this.#moves;
      this.#entries.delete(name);
      this.#entries.set(name, found);
    }
    return found.value;
  }

  /** Keeps a value; an earlier one of this name goes. */
  set(name: string, value: T): void {
    this.delete(name);
    const weight = this.#weigh(value);
    this.#moves += 1;
    this.#entries.set(name, { value, weight, move: this.#moves });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#limit || this.#entries.size === 1) {
        break;
      }
      this.delete(oldest);
    }
  }

  /** Drops a value. */
  delete(name: string): void {
    const found = this.#entries.get(name);
    if (found !== undefined) {
      this.#entries.delete(name);
      this.#weight -= found.weight;
    }
  }
}
