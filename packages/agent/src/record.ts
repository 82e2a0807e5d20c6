import type { Canonical } from "@ringwall/rendered";
import type { BodyDigest, Inputs, WorkloadPolicy } from "@ringwall/wire";

/** A policy with everything that an agent has to remember about it. */
export interface PolicyRecord {
  /** Workload that it is for. */
  readonly workload: string;
  /** Epoch of the workload's partition when it was pushed. */
  readonly epoch: bigint;
  /** Digest of its body. */
  readonly digest: BodyDigest;
  /** Inputs of the head when it was pushed. */
  readonly inputs: Inputs | undefined;
  /** The policy; its version counts within the epoch. */
  readonly policy: Canonical<WorkloadPolicy>;
}

/** Refused digests that are remembered. */
export const REFUSED_KEPT = 4;

/** Adds a digest as the newest of the remembered ones. */
export function rememberRefused(
  refused: readonly BodyDigest[],
  digest: BodyDigest,
): readonly BodyDigest[] {
  return [...refused.filter((known) => known !== digest), digest].slice(-REFUSED_KEPT);
}
