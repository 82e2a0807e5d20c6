import { AgentState, type Inputs } from "@ringwall/wire";
import { BODY_SCHEMA_LEVEL, CLAIM_LIMIT } from "../limits.ts";
import type { Partition } from "../versions/partition.ts";
import { isBelow } from "../wire/inputs.ts";
import type { Point, Session } from "./session.ts";

/** What judging needs to know beside the session. */
export interface View {
  /** What is not read yet; empty if everything is. */
  readonly loading: string;
  /** Why the control plane is held; empty if it is not. */
  readonly held: string;
  readonly partition: Partition;
  /** True if the inputs that the partition names are there. */
  readonly settled: boolean;
  /** True if an operator accepted the state after what the partition was rendered from. */
  readonly isOverruled: boolean;
  /** True if the registry has the workload. */
  readonly registered: boolean;
  /** True if CONFIG has the commit that these inputs name, or an operator overruled it. */
  readonly hasCommit: (inputs: Inputs) => boolean;
  /** False if the registry that these inputs name is of another life of REGISTRY than the present one. */
  readonly mayHaveRegistry: (inputs: Inputs) => boolean;
}

/** What to do for a session now, and what to say about it. */
export type Decision =
  /** Nothing is sent, for this reason. */
  | { readonly kind: "silent"; readonly state: AgentState; readonly detail: string }
  /** The agent has the head. */
  | { readonly kind: "synced" }
  /** The agent's claim contradicts the log. */
  | { readonly kind: "contradiction" }
  /** The head is due. `as` is fixed if a delta must not be sent. */
  | { readonly kind: "push"; readonly head: Point; readonly as: "any" | "snapshot" };

/** Judges a session against the logs. Absence, loss or age of state is never a reason to push. */
export function judge(session: Session, view: View): Decision {
  if (view.loading !== "") {
    return silent(AgentState.PENDING, view.loading);
  }
  if (view.held !== "") {
    return silent(AgentState.HELD, `control plane is held: ${view.held}`);
  }
  const head = view.partition.heads.get(session.workload);
  const known = knownWorkload(session, view, head?.digest);
  if (known !== undefined) {
    return known;
  }
  if (head === undefined) {
    const what = view.registered ? "rendered" : "registered";
    return silent(AgentState.PENDING, `not ${what} yet`);
  }
  const ground = standingGround(session, view, head.version);
  if (ground !== undefined) {
    return ground;
  }
  const point = { epoch: view.partition.epoch, version: head.version, digest: head.digest };
  const { has } = session;
  if (has.epoch === point.epoch && has.version === point.version && has.digest === point.digest) {
    return { kind: "synced" };
  }
  // What was lost may be in it, and is given up: only what is rendered from now on is for anybody.
  return view.isOverruled
    ? silent(AgentState.PENDING, "the state was accepted; policies are rendered anew")
    : judgeHead(session, point);
}

function knownWorkload(
  session: Session,
  view: View,
  headDigest: string | undefined,
): Decision | undefined {
  const { inputs } = session;
  if (inputs !== undefined && inputs.configSequence > 0n && !view.hasCommit(inputs)) {
    return silent(
      AgentState.HELD,
      `agent has commit ${inputs.configSequence}, which CONFIG does not have`,
    );
  }
  if (inputs !== undefined && !view.mayHaveRegistry(inputs)) {
    return silent(
      AgentState.HELD,
      `agent has revision ${inputs.registryRevision} of another REGISTRY; restore it, or accept the state`,
    );
  }
  if (headDigest === "") {
    return silent(AgentState.REMOVED, "workload was removed; its agent keeps its last policy");
  }
  if (!view.registered && session.has.version > 0) {
    return silent(
      AgentState.UNKNOWN,
      "the registry does not know this workload; admit it with ringwall workload admit",
    );
  }
  return view.registered ? undefined : silent(AgentState.PENDING, "not registered yet");
}

function standingGround(session: Session, view: View, headVersion: number): Decision | undefined {
  const { partition } = view;
  if (partition.blocked !== "") {
    return silent(AgentState.PENDING, partition.blocked);
  }
  if (session.has.version > headVersion + CLAIM_LIMIT) {
    return silent(
      AgentState.HELD,
      `agent claims version ${session.has.version}, more than ${CLAIM_LIMIT} above the head ${headVersion}`,
    );
  }
  if (isBelow(partition.inputs, session.inputs)) {
    return silent(AgentState.HELD, "the log's inputs are below the agent's own");
  }
  if (!view.settled) {
    return silent(AgentState.PENDING, "the log names inputs that are not read yet");
  }
  return undefined;
}

function judgeHead(session: Session, head: Point): Decision {
  const { has, sent } = session;
  if (contradicts(has, head)) {
    return { kind: "contradiction" };
  }
  if (session.parked.includes(head.digest)) {
    const inFlight = session.flights.some((flight) => flight.digest === head.digest);
    return inFlight
      ? silent(AgentState.PENDING, "a refused body is tried once more")
      : silent(AgentState.DEGRADED, `parked: ${session.words || "the host refused this body"}`);
  }
  if (session.schemaLevel < BODY_SCHEMA_LEVEL) {
    return silent(
      AgentState.DEGRADED,
      `agent too old: it reads level ${session.schemaLevel}, the policy needs ${BODY_SCHEMA_LEVEL}`,
    );
  }
  const sentHead =
    sent.epoch === head.epoch && sent.version === head.version && sent.digest === head.digest;
  if (sentHead && session.flights.length > 0) {
    return silent(AgentState.PENDING, "");
  }
  const snapshot =
    session.needsSnapshot ||
    session.lastChance.includes(head.digest) ||
    session.doubtful.includes(head.digest);
  return { kind: "push", head, as: snapshot ? "snapshot" : "any" };
}

/**
 * True if what the agent says it has can't be in this log: a later epoch, a version above the head,
 * or the head's version with another body. An agent whose policy is not in force names no body.
 */
function contradicts(has: Point, head: Point): boolean {
  if (has.version === 0 || has.epoch < head.epoch) {
    return false;
  }
  if (has.epoch > head.epoch) {
    return true;
  }
  const otherBody = has.digest !== "" && has.digest !== head.digest;
  return has.version > head.version || (has.version === head.version && otherBody);
}

function silent(state: AgentState, detail: string): Decision {
  return { kind: "silent", state, detail };
}
