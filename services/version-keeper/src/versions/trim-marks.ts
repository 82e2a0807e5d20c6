/** One mark for each hour is exact enough to trim by days. */
const MARK_EVERY_MS = 60 * 60 * 1000;

/** Most marks: a fortnight of hours, twice what trimming needs. */
const MOST_MARKS = 14 * 24;

/** Remembers coarsely which sequence was reached when, so that a log can be trimmed by age. */
export class TrimMarks {
  readonly #marks: { readonly sequence: number; readonly timeUnixMs: number }[] = [];

  /** Notes a record; sequences ascend. */
  add(sequence: number, timeUnixMs: number): void {
    const last = this.#marks.at(-1);
    if (last !== undefined) {
      if (sequence <= last.sequence || timeUnixMs < last.timeUnixMs + MARK_EVERY_MS) {
        return;
      }
    }
    this.#marks.push({ sequence, timeUnixMs });
    if (this.#marks.length > MOST_MARKS) {
      this.#marks.shift();
    }
  }

  /** Forgets everything: the log is another one. */
  clear(): void {
    this.#marks.length = 0;
  }

  /** The highest noted sequence below which everything is older than `timeUnixMs`; 0 if none. */
  olderThan(timeUnixMs: number): number {
    return this.#marks.findLast((mark) => mark.timeUnixMs < timeUnixMs)?.sequence ?? 0;
  }
}
