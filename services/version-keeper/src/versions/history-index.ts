/** Most versions of one workload that history lists. */
export const HISTORY_VERSIONS = 64;

/**
 * Where in VERSIONS the last versions of each workload stand: sequences only, so that the whole
 * estate's history costs a few bytes for each version; what happened is read from the log on demand.
 */
export class HistoryIndex {
  readonly #sequences = new Map<string, number[]>();

  /** Notes that the record at `sequence` advanced the workload; sequences ascend. */
  add(workload: string, sequence: number): void {
    const list = this.#sequences.get(workload);
    if (list === undefined) {
      this.#sequences.set(workload, [sequence]);
      return;
    }
    if (sequence <= (list.at(-1) ?? 0)) {
      return;
    }
    list.push(sequence);
    if (list.length > HISTORY_VERSIONS) {
      list.shift();
    }
  }

  /** Sequences of a workload's records, newest first. */
  newestFirst(workload: string): readonly number[] {
    return (this.#sequences.get(workload) ?? []).toReversed();
  }

  /** Forgets everything: the log is another one. */
  clear(): void {
    this.#sequences.clear();
  }
}
