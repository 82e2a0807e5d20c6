import type { WorkloadRecord } from "@ringwall/wire";
import type { Job } from "./job.ts";
import type { Result } from "./operation.ts";
import type { PartitionReload } from "./partition-reload.ts";
import type { WriteTrace } from "./write-trace.ts";

/**
 * What the writer is doing:
 * - `released`: the partition is somebody else's;
 * - `claiming`: the owner key is being written; its success proves that the fold is current, or that it
 *   is of another life of the log;
 * - `reloading`: the fence was lost or an answer was; the partition is read anew;
 * - `waiting`: the bus could not store; a timer goes on with reloading;
 * - `idle`: nothing is in flight;
 * - `writing`: one append is in flight.
 */
export type WriterState =
  | { readonly kind: "released" | "waiting" | "idle" }
  | { readonly kind: "reloading"; readonly reload: PartitionReload }
  | {
      readonly kind: "claiming";
      readonly tag: string;
      /** What the partition held, if it was read anew before. */
      readonly reload?: PartitionReload;
    }
  | {
      readonly kind: "writing";
      readonly tag: string;
      /** Absent while the owner key is written. */
      readonly written?: WrittenWorkload;
    };

/** A workload whose record is being stored, with the requests that share the append. */
export interface WrittenWorkload {
  readonly id: string;
  readonly record: WorkloadRecord | undefined;
  readonly jobs: readonly Job[];
  readonly results: readonly Result[];
  readonly traced: WriteTrace | undefined;
}

/** Requests whose append is in flight. */
export function inFlight(state: WriterState): readonly Job[] {
  return "written" in state ? (state.written?.jobs ?? []) : [];
}
