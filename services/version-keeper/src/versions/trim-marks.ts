/** Most marks: twice what trimming needs. */
const MOST_MARKS = 2 * 168;

/** Remembers coarsely which sequence was reached when, so that a log can be trimmed by age. */
export class TrimMarks {
  readonly #everyMs: number;
  readonly #marks: { readonly sequence: number; readonly timeUnixMs: number }[] = [];

  /** Marks are exact to a 168th of `trimAfterMs`: to the hour for a week. */
  constructor(trimAfterMs: number) {
    this.#everyMs = trimAfterMs / 168;
  }

  /** Notes a record; sequences ascend. */
  add(sequence: number, timeUnixMs: number): void {
    const last = this.#marks.at(-1);
    if (last !== undefined) {
      if (sequence <= last.sequence || timeUnixMs < last.timeUnixMs + this.#everyMs) {
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
