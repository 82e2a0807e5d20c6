import type { EnforcementMode } from "@ringwall/wire";

/** What the log says of a workload. */
export interface HeadView {
  readonly epoch: bigint;
  readonly version: number;
  readonly mode: EnforcementMode;
}
