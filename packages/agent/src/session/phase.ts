import type { BodyDigest } from "@ringwall/wire";
import type { Intake } from "./intake.ts";

/** A session that a gateway owns. */
export interface Open {
  readonly kind: "open";
  readonly nonce: bigint;
  readonly session: bigint;
  readonly gateway: string;
  readonly intervalMs: number;
  /** Monotonic time at which it was opened. */
  readonly sinceMs: number;
  /** Sequence of the last Down that was taken. */
  lastSeq: bigint;
  /** Monotonic time of the gateway's last word. */
  heardMs: number;
  /** Monotonic time of the agent's own last word. */
  saidMs: number;
  /** Why the gateway pushes nothing; empty if it does. */
  state: string;
}

/**
 * Where a session stands. `closed`: before start and after stop. `dialling`: a Hello is out or due,
 * its HelloAck has not come. `open`: a gateway owns the session.
 */
export type Phase =
  | { readonly kind: "closed" }
  | { readonly kind: "dialling"; readonly nonce: bigint }
  | Open;

/** What people see of a session. */
export interface SessionStatus {
  readonly workload: string;
  readonly phase: "closed" | "dialling" | "open";
  /** Gateway that owns the session; empty unless open. */
  readonly gateway: string;
  readonly epoch: bigint;
  readonly version: bigint;
  readonly digest: BodyDigest | undefined;
  /** True if that version is in force on the host. */
  readonly installed: boolean;
  readonly refused: readonly BodyDigest[];
  /** Differences of the live ruleset repaired since start. */
  readonly driftCount: number;
  /** Why nothing is pushed, or what the last push failed with; empty if all is well. */
  readonly detail: string;
}

/** What people see of a session with this phase and intake. */
export function statusOf(
  workload: string,
  phase: Phase,
  intake: Intake,
  driftCount: number,
): SessionStatus {
  const { record, installed, refused, detail } = intake;
  return {
    workload,
    phase: phase.kind,
    gateway: phase.kind === "open" ? phase.gateway : "",
    epoch: record?.epoch ?? 0n,
    version: record?.policy.version ?? 0n,
    digest: record?.digest,
    installed,
    refused,
    driftCount,
    detail: phase.kind === "open" && phase.state !== "" ? phase.state : detail,
  };
}
