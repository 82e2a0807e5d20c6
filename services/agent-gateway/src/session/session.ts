import { AgentState, type Inputs } from "@ringwall/wire";

/** A push that waits for its acknowledgement. */
export interface Flight {
  readonly seq: number;
  readonly epoch: bigint;
  readonly version: number;
  readonly digest: string;
  readonly inputs: Inputs | undefined;
  readonly kind: "snapshot" | "delta";
  /** Monotonic time at which it was sent. */
  readonly sentMs: number;
  /** The change that it delivers; undefined for repairs. */
  readonly delivery: Delivery | undefined;
  /** Traceparent of the push, which goes with it to the agent; undefined if it is not traced. */
  readonly trace: string | undefined;
  /** Traces of changes that were coalesced into it. */
  readonly links: readonly string[];
}

/** A change on its way to the agents that it concerns. */
export interface Delivery {
  /** Traceparent of the log record; undefined if it was not traced. */
  readonly parent: string | undefined;
  /** Traceparent of the delivery itself; undefined if the record was not traced. */
  readonly trace: string | undefined;
  /** Commit that the record names, hex digits; empty if none. */
  readonly commit: string;
  readonly partition: number;
  readonly sequence: number;
  /** Monotonic and wall time at which it was seen. */
  readonly sinceMs: number;
  readonly seenUnixMs: number;
  /** When the record was stored, by the wall clock: from then on the delivery waits. */
  readonly sinceUnixMs: number;
  /** When the commit behind it was stored; 0 if no commit caused it. */
  readonly commitUnixMs: number;
  /** Pushes and queued sessions that it is not done with. */
  open: number;
  acked: number;
}

/** A version at one side of a session. */
export interface Point {
  readonly epoch: bigint;
  readonly version: number;
  /** Empty if nothing is in force. */
  readonly digest: string;
}

/** How far a claim that contradicts the log has come. */
export type ClaimStage = "none" | "verifying" | "verified" | "claimed";

/** Shared by all sessions that have nothing: an idle session owns no list. */
export const NO_FLIGHTS: readonly Flight[] = Object.freeze([]);
export const NO_DIGESTS: readonly string[] = Object.freeze([]);
export const NO_TRACES: readonly string[] = Object.freeze([]);

/** What a session is opened with. */
export interface SessionStart {
  readonly workload: string;
  readonly partition: number;
  readonly session: number;
  readonly nonce: bigint;
  readonly schemaLevel: number;
  readonly agentVersion: string;
  readonly facts: Readonly<Record<string, string>>;
  readonly has: Point;
  readonly inputs: Inputs | undefined;
  readonly parked: readonly string[];
  readonly nowMs: number;
  readonly nowUnixMs: number;
}

/** One agent's session. Ten thousand of them are idle at a time: fields are flat and shared. */
export class Session {
  readonly workload: string;
  readonly partition: number;
  readonly session: number;
  readonly nonce: bigint;
  readonly schemaLevel: number;
  readonly agentVersion: string;
  readonly facts: Readonly<Record<string, string>>;

  /** Monotonic time at which it was opened. */
  readonly openedMs: number;

  /** Sequence of the last Down that was sent. */
  seq = 0;
  /** What the agent has, by its own word. */
  has: Point;
  /** What it will have when everything in flight is applied. */
  sent: Point;
  /** Inputs that the agent has. */
  inputs: Inputs | undefined;
  /** Wall time of the last acknowledgement; 0 before the first. */
  ackedUnixMs = 0;
  /** Monotonic time of the last acknowledgement of a push. */
  ackedMs = Number.NEGATIVE_INFINITY;
  flights: readonly Flight[] = NO_FLIGHTS;
  /** Bodies that are not sent any more. */
  parked: readonly string[];
  /** Bodies that were refused as a delta and may be sent once more, as a snapshot. */
  lastChance: readonly string[] = NO_DIGESTS;
  /** Bodies whose push had no outcome: perhaps they were refused, so they are only sent whole. */
  doubtful: readonly string[] = NO_DIGESTS;
  /** Bodies that were sent whole because they were in doubt: the agent's word decides the next time. */
  retried: readonly string[] = NO_DIGESTS;
  /** Acknowledgements of pushes below this sequence say nothing about what was sent since. */
  baseline = 0;
  /** OUT_OF_STEP in a row. */
  misses = 0;
  /** Monotonic time before which nothing is repaired. */
  retryAtMs = 0;
  /** True if only a snapshot can bring the agent on. */
  needsSnapshot = false;
  claim: ClaimStage = "none";
  /** Monotonic time before which no claim is made again. */
  claimAtMs = 0;
  /** True while a chunked snapshot is under way. */
  transferring = false;

  state: AgentState = AgentState.PENDING;
  detail = "";
  /** What the last refusal or failure said. */
  words = "";
  /** Why the registrar refused the last report; empty if it did not. */
  reportProblem = "";
  driftCount = 0n;
  wouldDrops = 0;

  /** Monotonic and wall time of the agent's last message. */
  seenMs: number;
  seenUnixMs: number;
  /** True if it was heard of since the last lease batch. */
  leased = true;
  /** True while it waits in the queue of sessions to be judged. */
  queued = false;
  /** The newest change that it has to get. */
  delivery: Delivery | undefined;
  /** Traceparent of the push that is being sent. */
  pushTrace: string | undefined;
  /** Traces of the older changes that go with it. */
  coalesced: readonly string[] = NO_TRACES;
  /** Place in STATUS: page times page size plus index. */
  slot = -1;

  constructor(start: SessionStart) {
    this.workload = start.workload;
    this.partition = start.partition;
    this.session = start.session;
    this.nonce = start.nonce;
    this.schemaLevel = start.schemaLevel;
    this.agentVersion = start.agentVersion;
    this.facts = start.facts;
    this.has = start.has;
    this.sent = start.has;
    this.inputs = start.inputs;
    this.parked = start.parked;
    this.needsSnapshot = start.has.version > 0 && start.has.digest === "";
    this.openedMs = start.nowMs;
    this.seenMs = start.nowMs;
    this.seenUnixMs = start.nowUnixMs;
  }
}

/** True if both name the same version of the same body. */
export function isSame(a: Point, b: Point): boolean {
  return a.epoch === b.epoch && a.version === b.version && a.digest === b.digest;
}

/** Adds a digest as the newest of at most `limit`. */
export function withDigest(
  digests: readonly string[],
  digest: string,
  limit: number,
): readonly string[] {
  return [...digests.filter((known) => known !== digest), digest].slice(-limit);
}

/** The digests without one of them. */
export function withoutDigest(digests: readonly string[], digest: string): readonly string[] {
  if (!digests.includes(digest)) {
    return digests;
  }
  const rest = digests.filter((known) => known !== digest);
  return rest.length === 0 ? NO_DIGESTS : rest;
}
