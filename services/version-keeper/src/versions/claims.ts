import type { ClaimRequest } from "@ringwall/wire";
import { toHex } from "../log/hex.ts";
import { isAbove } from "../log/inputs.ts";
import type { HeadState, PartitionLog } from "./partition-log.ts";

/** A claim further above the head than this is not believed. */
const MOST_VERSIONS_ABOVE = 2n ** 20n;

/** A claimed epoch further ahead of the clock than this is not believed. */
const MOST_MS_AHEAD = 24 * 60 * 60 * 1000;

/** What becomes of a claim. */
export type ClaimVerdict =
  /** It does not contradict the log. */
  | { readonly kind: "fits"; readonly head: HeadState }
  /** The workload's head moves above it. */
  | { readonly kind: "move"; readonly head: HeadState; readonly toVersion: number }
  /** It names an epoch that this log does not know: the partition needs a higher one. */
  | { readonly kind: "epoch"; readonly above: bigint }
  | {
      readonly kind: "refuse";
      readonly code: "not_found" | "refused" | "invalid" | "held";
      readonly message: string;
    };

/**
 * Judges an agent's claim against the partition's log. Only a claim whose inputs are not above the
 * partition's may move anything: an agent that is ahead waits until the partition has caught up.
 */
export function judgeClaim(
  claim: ClaimRequest,
  log: PartitionLog,
  nowUnixMs: number,
): ClaimVerdict {
  const { workload, inputs } = claim;
  const head = log.heads.get(workload);
  if (inputs === undefined || claim.digest.length !== 32 || claim.version === 0n) {
    const message = `the claim for ${workload} lacks its inputs, digest or version`;
    return { kind: "refuse", code: "invalid", message };
  }
  if (head === undefined || head.digest === "") {
    const what = head === undefined ? "has no version" : `was removed at version ${head.version}`;
    return { kind: "refuse", code: "not_found", message: `workload ${workload} ${what}` };
  }
  if (log.inputs === undefined || isAbove(inputs, log.inputs)) {
    const message = `the inputs that ${workload} claims are above the partition's; it has to wait`;
    return { kind: "refuse", code: "refused", message };
  }
  if (claim.epoch > log.epoch) {
    return judgeEpoch(claim, nowUnixMs);
  }
  return claim.epoch < log.epoch ? { kind: "fits", head } : judgeVersion(claim, head);
}

function judgeEpoch(claim: ClaimRequest, nowUnixMs: number): ClaimVerdict {
  const allowed = BigInt(Math.trunc(nowUnixMs) + MOST_MS_AHEAD);
  if (claim.epoch <= allowed) {
    return { kind: "epoch", above: claim.epoch };
  }
  const message = `${claim.workload} claims epoch ${claim.epoch}, the highest believed is ${allowed}`;
  return { kind: "refuse", code: "held", message };
}

function judgeVersion(claim: ClaimRequest, head: HeadState): ClaimVerdict {
  const allowed = BigInt(head.version) + MOST_VERSIONS_ABOVE;
  if (claim.version > allowed) {
    const message = `${claim.workload} claims version ${claim.version}, the highest believed is ${allowed}`;
    return { kind: "refuse", code: "held", message };
  }
  const version = Number(claim.version);
  const differs = version === head.version && toHex(claim.digest) !== head.digest;
  return version > head.version || differs
    ? { kind: "move", head, toVersion: version + 1 }
    : { kind: "fits", head };
}
