import type { RowProblem } from "@ringwall/wire";
import type { Operation } from "./operation.ts";
import type { Refusal } from "./report.ts";

/** A job that waited longer is refused: whoever asked has given up and may have asked for more. */
export const JOB_AGE_MAX_MS = 5_000;

/** How a job ended. */
export type Settlement =
  | {
      readonly kind: "done";
      /** Revision that holds the workload; 0 if there is none. */
      readonly revision: number;
      readonly changed: boolean;
      readonly problems: readonly RowProblem[];
    }
  | Refusal;

/** An operation on one workload, waiting for its partition's writer. */
export interface Job {
  readonly id: string;
  readonly operation: Operation;
  readonly trace?: string;
  /** Monotonic time at which it came in. */
  readonly sinceMs: number;
  /** Called exactly once. */
  readonly settle: (settlement: Settlement) => void;
}

/**
 * One answer for a request about many workloads: `settle` is called with the highest revision when
 * all have ended, or with the last refusal if one was refused.
 */
export function gather(
  count: number,
  settle: (settlement: Settlement) => void,
): (settlement: Settlement) => void {
  let open = count;
  let revision = 0;
  let changed = false;
  let refusal: Refusal | undefined;
  return (settlement) => {
    open -= 1;
    if (settlement.kind === "refused") {
      refusal = settlement;
    } else {
      revision = Math.max(revision, settlement.revision);
      changed ||= settlement.changed;
    }
    if (open === 0) {
      settle(refusal ?? { kind: "done", revision, changed, problems: [] });
    }
  };
}
