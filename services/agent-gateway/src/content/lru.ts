/** Keeps values by name up to a total weight; what was not asked for longest goes first. */
export class Lru<T> {
  readonly #limit: number;
  readonly #weigh: (value: T) => number;
  readonly #entries = new Map<string, { readonly value: T; readonly weight: number }>();
  #weight = 0;

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
    this.#entries.delete(name);
    this.#entries.set(name, found);
    return found.value;
  }

  /** Keeps a value; an earlier one of this name goes. */
  set(name: string, value: T): void {
    this.delete(name);
    const weight = this.#weigh(value);
    this.#entries.set(name, { value, weight });
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
