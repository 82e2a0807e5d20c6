/** Records that are remembered. */
const LENGTH = 32;

/** A record that a reader has delivered. */
export interface Mark {
  readonly sequence: number;
  readonly subject: string;
  /** When it was stored. */
  readonly unixMs: number;
  /** True if it may go by itself, as a marker or a lease does. */
  readonly expires: boolean;
}

/** Where a trail is looked up. */
export interface TrailStore {
  /** When the message at a sequence was stored, Unix milliseconds; undefined if there is none. */
  timeAt(sequence: number): Promise<number | undefined>;
  /** Sequence of the last message of a subject; undefined if there is none. */
  lastOf(subject: string): Promise<number | undefined>;
}

/**
 * The records that a reader delivered last. By them it is told whether a stream is still the one that
 * was read: a store that was restored may have grown past the reader's place again, with other records
 * beneath it.
 */
export class Trail {
  #marks: Mark[] = [];

  add(mark: Mark): void {
    this.#marks.push(mark);
    if (this.#marks.length > 2 * LENGTH) {
      this.#marks = this.#marks.slice(-LENGTH);
    }
  }

  /**
   * Looks from the newest record back until one is found in its place. A record that is gone must have
   * been trimmed or replaced by one that the reader has yet to see. Returns what speaks against it.
   */
  async check(store: TrailStore, firstSequence: number): Promise<string | undefined> {
    const reached = this.#marks.at(-1)?.sequence ?? 0;
    const replaced = new Set<string>();
    for (const mark of this.#marks.slice(-LENGTH).reverse()) {
      if (mark.sequence < firstSequence) {
        return undefined;
      }
      const unixMs = await store.timeAt(mark.sequence);
      if (unixMs !== undefined) {
        return unixMs === mark.unixMs
          ? undefined
          : `message ${mark.sequence} is another than it was`;
      }
      if (!mark.expires && !replaced.has(mark.subject)) {
        const last = await store.lastOf(mark.subject);
        if (last === undefined || last <= reached) {
          return `message ${mark.sequence} is gone, and nothing has replaced it`;
        }
      }
      replaced.add(mark.subject);
    }
    return undefined;
  }
}
