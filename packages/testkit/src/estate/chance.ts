import { seededRandom } from "../sim/random.ts";

/** Choices that a seed decides. */
export class Chance {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** An integer from 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True in a share of all cases. */
  happens(share: number): boolean {
    return this.#random() < share;
  }

  /** An index below `bound`; low ones are far more frequent, as in real fleets. */
  skewed(bound: number): number {
    return Math.floor(this.#random() ** 3 * bound);
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }

  /** Up to `most` different items, in random order. */
  some<T>(items: readonly T[], most: number): T[] {
    return this.shuffled(items).slice(0, this.between(0, Math.min(most, items.length)));
  }

  shuffled<T>(items: readonly T[]): T[] {
    const keyed = items.map((item) => ({ item, key: this.#random() }));
    return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
  }
}
