/** Gathers changes: due after a quiet time, at the latest a fixed time after the first of them. */
export class Debounce {
  readonly #quietMs: number;
  readonly #windowMs: number;
  #firstMs: number | undefined;
  #lastMs = 0;
  #commits = false;

  constructor(quietMs: number, windowMs: number) {
    this.#quietMs = quietMs;
    this.#windowMs = windowMs;
  }

  /** Notes a change; `commit` if it is one of the configuration. */
  note(nowMs: number, commit: boolean): void {
    this.#firstMs ??= nowMs;
    this.#lastMs = nowMs;
    this.#commits ||= commit;
  }

  /** Time until the window closes, 0 if it is due; undefined if nothing changed. */
  waitMs(nowMs: number): number | undefined {
    if (this.#firstMs === undefined) {
      return undefined;
    }
    const dueMs = Math.min(this.#lastMs + this.#quietMs, this.#firstMs + this.#windowMs);
    return Math.max(0, dueMs - nowMs);
  }

  /** Closes the window; true if it held a commit. */
  close(): boolean {
    const commits = this.#commits;
    this.#firstMs = undefined;
    this.#commits = false;
    return commits;
  }
}
