/** Smallest length at which stale entries are dropped. */
const COMPACT_FROM = 1024;

/** One change of the log. */
export interface LoggedChange {
  readonly id: string;
  readonly sequence: number;
}

/**
 * Which id changed at which revision, in order, so that a reader which knows revision R gets what
 * changed since without a look at everything. Only the latest change of an id counts; older ones
 * are dropped when they outnumber the rest. Changes at or below `floor` may be missing.
 */
export class ChangeLog {
  #sequences: number[] = [];
  #ids: string[] = [];
  #floor = 0;
  readonly #latest = new Map<string, number>();

  /** Changes at or below this revision may be missing. */
  get floor(): number {
    return this.#floor;
  }

  /** Ids that have a change. */
  get size(): number {
    return this.#latest.size;
  }

  /** Adds a change; revisions must not fall. */
  push(sequence: number, id: string): void {
    this.#sequences.push(sequence);
    this.#ids.push(id);
    this.#latest.set(id, sequence);
    if (this.#ids.length > COMPACT_FROM && this.#ids.length > 2 * this.#latest.size) {
      this.#compact();
    }
  }

  /** Forgets an id whose last change is of no use any more and raises the floor to it. */
  forget(id: string): void {
    const sequence = this.#latest.get(id);
    if (sequence !== undefined) {
      this.#latest.delete(id);
      this.raiseFloor(sequence);
    }
  }

  /** Says that changes at or below `sequence` may be missing. */
  raiseFloor(sequence: number): void {
    this.#floor = Math.max(this.#floor, sequence);
  }

  /**
   * Changes after `revision`, oldest first, each id once with its latest change. The log must not
   * change while it is read. Undefined below the floor.
   */
  since(revision: number): IterableIterator<LoggedChange> | undefined {
    return revision < this.#floor ? undefined : this.#changes(this.#firstAfter(revision));
  }

  /** Drops everything; nothing at or below `floor` can be asked for. */
  reset(floor: number): void {
    this.#sequences = [];
    this.#ids = [];
    this.#latest.clear();
    this.#floor = floor;
  }

  *#changes(start: number): IterableIterator<LoggedChange> {
    for (let index = start; index < this.#ids.length; index += 1) {
      const id = this.#ids[index];
      const sequence = this.#sequences[index];
      if (id !== undefined && sequence !== undefined && this.#latest.get(id) === sequence) {
        yield { id, sequence };
      }
    }
  }

  #firstAfter(revision: number): number {
    let low = 0;
    let high = this.#sequences.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sequences[middle] ?? 0) <= revision) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  #compact(): void {
    const sequences: number[] = [];
    const ids: string[] = [];
    for (const [index, id] of this.#ids.entries()) {
      const sequence = this.#sequences[index];
      if (sequence !== undefined && this.#latest.get(id) === sequence) {
        sequences.push(sequence);
        ids.push(id);
      }
    }
    this.#sequences = sequences;
    this.#ids = ids;
  }
}
