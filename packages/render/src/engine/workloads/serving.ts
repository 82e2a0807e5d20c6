import type { RowSpec, WorkloadSpec } from "../../model.ts";
import { sameValue } from "../store/same-value.ts";

/** What a workload serves, as it was reported. */
export interface Serving {
  readonly rows: readonly RowSpec[];
  readonly addresses: readonly string[];
  /** False while it must not be an endpoint. */
  readonly live: boolean;
}

/** What a workload serves; undefined if nothing. */
export function servingOf({ rows, addresses, presence }: WorkloadSpec): Serving | undefined {
  return rows.length === 0 ? undefined : { rows, addresses, live: presence === "live" };
}

/** True if two say the same. */
export function sameServing(a: Serving | undefined, b: Serving | undefined): boolean {
  if (a === undefined || b === undefined) {
    return a === b;
  }
  return (
    a.live === b.live &&
    a.addresses.length === b.addresses.length &&
    a.addresses.every((address, index) => address === b.addresses[index]) &&
    sameValue(a.rows, b.rows)
  );
}
