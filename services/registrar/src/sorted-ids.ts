/**
 * A set of ids in byte order (ids are ASCII). Adding while it is built in bulk is cheap: order is
 * made at the first read and kept from then on.
 */
export class SortedIds {
  #ids: string[] = [];
  #unsorted: Set<string> | undefined = new Set();

  get size(): number {
    return this.#unsorted?.size ?? this.#ids.length;
  }

  /** Adds an id that is not in it. */
  add(id: string): void {
    if (this.#unsorted !== undefined) {
      this.#unsorted.add(id);
      return;
    }
    this.#ids.splice(firstAtLeast(this.#ids, id), 0, id);
  }

  /** Takes an id out; an unknown one is fine. */
  remove(id: string): void {
    if (this.#unsorted !== undefined) {
      this.#unsorted.delete(id);
      return;
    }
    const index = firstAtLeast(this.#ids, id);
    if (this.#ids[index] === id) {
      this.#ids.splice(index, 1);
    }
  }

  clear(): void {
    this.#ids = [];
    this.#unsorted = new Set();
  }

  /** All ids, sorted; not to be kept or changed. */
  all(): readonly string[] {
    if (this.#unsorted !== undefined) {
      this.#ids = [...this.#unsorted].sort();
      this.#unsorted = undefined;
    }
    return this.#ids;
  }

  /** Index of the first id after `id`; the empty text gives the first of all. */
  firstAfter(id: string): number {
    return firstAfter(this.all(), id);
  }
}

/** Index of the first of some sorted ids that comes after `id`. */
export function firstAfter(ids: readonly string[], id: string): number {
  const index = firstAtLeast(ids, id);
  return ids[index] === id ? index + 1 : index;
}

function firstAtLeast(ids: readonly string[], id: string): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] ?? "") < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
