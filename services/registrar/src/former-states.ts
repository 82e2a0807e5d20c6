import type { WorkloadRecord } from "@ringwall/wire";

/** What filters look at. */
export type Filterable = Pick<WorkloadRecord, "id" | "labels" | "rows">;

/** Former states that are kept over all workloads. */
const KEPT = 100_000;

interface Former {
  /** Revision that replaced it. */
  readonly until: number;
  /** Undefined where the workload was not there. */
  readonly state: Filterable | undefined;
}

/**
 * What workloads were before they changed, as far as filters can tell: so that a client that resumes
 * is told of a removal only if it can have the workload.
 */
export class FormerStates {
  readonly #byId = new Map<string, Former[]>();
  #order: string[] = [];
  #head = 0;
  #floor = 0;
  readonly #kept: number;

  constructor(kept: number = KEPT) {
    this.#kept = kept;
  }

  /** Says that nothing is known below a revision. */
  raiseFloor(revision: number): void {
    this.#floor = Math.max(this.#floor, revision);
  }

  /** Remembers what a change replaced, if filters can tell the difference. */
  replaced(
    id: string,
    sequence: number,
    before: Filterable | undefined,
    after: Filterable | undefined,
  ): void {
    if (before !== undefined && after !== undefined && looksSame(before, after)) {
      return;
    }
    const all = this.#byId.get(id) ?? [];
    const state =
      before === undefined ? undefined : { id, labels: before.labels, rows: before.rows };
    all.push({ until: sequence, state });
    this.#byId.set(id, all);
    this.#order.push(id);
    if (this.#order.length - this.#head > this.#kept) {
      this.#forgetOldest();
    }
  }

  /**
   * True if a workload was such at a revision or after it, what it is now not counted. Undefined if
   * that is not known any more.
   */
  some(id: string, revision: number, such: (state: Filterable) => boolean): boolean | undefined {
    if (revision < this.#floor) {
      return undefined;
    }
    const all = this.#byId.get(id) ?? [];
    for (let index = all.length - 1; index >= 0; index -= 1) {
      const former = all[index];
      if (former === undefined || former.until <= revision) {
        return false;
      }
      if (former.state !== undefined && such(former.state)) {
        return true;
      }
    }
    return false;
  }

  clear(): void {
    this.#byId.clear();
    this.#order = [];
    this.#head = 0;
    this.#floor = 0;
  }

  #forgetOldest(): void {
    const id = this.#order[this.#head] ?? "";
    this.#head += 1;
    const all = this.#byId.get(id);
    const oldest = all?.shift();
    if (all?.length === 0) {
      this.#byId.delete(id);
    }
    this.raiseFloor(oldest?.until ?? 0);
    if (this.#head > this.#kept) {
      this.#order = this.#order.slice(this.#head);
      this.#head = 0;
    }
  }
}

/** Parts of records are shared, so equal ones are the same object. */
function looksSame(a: Filterable, b: Filterable): boolean {
  return (
    a.labels === b.labels &&
    a.rows.length === b.rows.length &&
    a.rows.every((row, index) => row === b.rows[index])
  );
}
