const NONE: ReadonlySet<string> = new Set();

/** Which ids have a term: an inverted index. */
export class Postings {
  readonly #ids = new Map<string, Set<string>>();

  /** Ids that have the term; not to be kept. */
  of(term: string): ReadonlySet<string> {
    return this.#ids.get(term) ?? NONE;
  }

  has(term: string): boolean {
    return this.#ids.has(term);
  }

  add(term: string, id: string): void {
    const ids = this.#ids.get(term);
    if (ids === undefined) {
      this.#ids.set(term, new Set([id]));
    } else {
      ids.add(id);
    }
  }

  remove(term: string, id: string): void {
    const ids = this.#ids.get(term);
    ids?.delete(id);
    if (ids?.size === 0) {
      this.#ids.delete(term);
    }
  }

  clear(): void {
    this.#ids.clear();
  }
}
