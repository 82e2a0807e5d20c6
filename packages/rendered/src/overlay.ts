import { compareText } from "./text-order.ts";

/**
 * Edits over a list that is sorted by key, without touching the list. k edits over n items cost
 * n + k log n, however they are ordered.
 */
export class Overlay<T> {
  readonly #base: readonly T[];
  readonly #keyOf: (item: T) => string;
  readonly #edits = new Map<string, T | undefined>();

  constructor(base: readonly T[], keyOf: (item: T) => string) {
    this.#base = base;
    this.#keyOf = keyOf;
  }

  /** The item as edited so far. */
  get(key: string): T | undefined {
    if (this.#edits.has(key)) return this.#edits.get(key);
    const at = this.#lowerBound(key, 0);
    const item = this.#base[at];
    return item !== undefined && this.#keyOf(item) === key ? item : undefined;
  }

  /** Adds the item or replaces the one with its key. */
  put(item: T): void {
    this.#edits.set(this.#keyOf(item), item);
  }

  /** Removes the item with this key; none is fine. */
  remove(key: string): void {
    this.#edits.set(key, undefined);
  }

  /** The edited list; the base itself if nothing was edited. */
  result(): readonly T[] {
    if (this.#edits.size === 0) return this.#base;
    const edits = [...this.#edits].sort(([a], [b]) => compareText(a, b));
    const out: T[] = [];
    let copied = 0;
    for (const [key, item] of edits) {
      const at = this.#lowerBound(key, copied);
      for (const kept of this.#base.slice(copied, at)) out.push(kept);
      const there = this.#base[at];
      copied = there !== undefined && this.#keyOf(there) === key ? at + 1 : at;
      if (item !== undefined) out.push(item);
    }
    for (const kept of this.#base.slice(copied)) out.push(kept);
    return out;
  }

  #lowerBound(key: string, from: number): number {
    let low = from;
    let high = this.#base.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const item = this.#base[middle];
      if (item !== undefined && compareText(this.#keyOf(item), key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
