import { create, toBinary } from "@bufbuild/protobuf";
import { childTrace, type Moment } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import { AgentState, DirectiveKind, DirectiveSchema, type Inputs } from "@ringwall/wire";
import type { Bodies } from "../content/bodies.ts";
import type { Deltas } from "../content/deltas.ts";
import { MESSAGE_BYTES, PARKED_KEPT, WINDOW } from "../limits.ts";
import type { Outbox } from "../outbox.ts";
import { type BODY_FIELDS, deltaVersions, encodeDown, policyVersion } from "../wire/down-bytes.ts";
import type { Claims } from "./claims.ts";
import type { Deliveries } from "./deliveries.ts";
import { type Decision, judge, type View } from "./judge.ts";
import {
  type Flight,
  NO_TRACES,
  type Point,
  type Session,
  withDigest,
  withoutDigest,
} from "./session.ts";
import { Transfers } from "./transfers.ts";

const NO_BYTES = new Uint8Array();

/** Wait before an agent is asked again to say Hello. */
const ASK_AGAIN_MS = 2000;

/** Bodies that were sent whole because they were in doubt and are remembered. */
const RETRIED_KEPT = 8;

/** What a pusher works with. */
export interface PusherParts {
  readonly names: Names;
  readonly out: Outbox;
  readonly bodies: Bodies;
  readonly deltas: Deltas;
  readonly deliveries: Deliveries;
  readonly claims: Claims;
  readonly view: (session: Session) => View;
  /** Its state, detail or acknowledged version is another one. */
  readonly onChange: (session: Session) => void;
}

/** Brings agents to their heads: decides what is due and sends it, bounded by a window per agent. */
export class Pusher {
  readonly #parts: PusherParts;
  readonly transfers: Transfers;
  /** Sessions that wait for a body. */
  readonly #awaiting = new Map<string, Set<Session>>();
  /** Sessions that something outside has to change for. */
  readonly #blocked = new Set<Session>();
  /** Sessions whose repair is put off. */
  readonly #delayed = new Set<Session>();
  #moment: Moment;

  constructor(parts: PusherParts, moment: Moment) {
    this.#parts = parts;
    this.#moment = moment;
    this.transfers = new Transfers(parts.out, (session, fields, data, last) => {
      this.#sendChunk(session, fields, data, last);
    });
  }

  /** Sessions that something outside has to change for. */
  get blocked(): ReadonlySet<Session> {
    return this.#blocked;
  }

  /** Sets the time of this step. */
  at(moment: Moment): void {
    this.#moment = moment;
  }

  /** True if a session waits for the body. */
  awaits(digest: string): boolean {
    return (this.#awaiting.get(digest)?.size ?? 0) > 0;
  }

  /** Sessions that waited for a body; they wait no more. */
  takeAwaiting(digest: string): readonly Session[] {
    const sessions = this.#awaiting.get(digest);
    this.#awaiting.delete(digest);
    return [...(sessions ?? [])];
  }

  /** Sessions whose repair was put off until now. */
  takeDelayed(nowMs: number): readonly Session[] {
    const due = [...this.#delayed].filter((session) => nowMs >= session.retryAtMs);
    for (const session of due) {
      this.#delayed.delete(session);
    }
    return due;
  }

  /** Forgets a session that has ended. */
  forget(session: Session): void {
    this.#blocked.delete(session);
    this.#delayed.delete(session);
    this.transfers.cancel(session);
    this.#parts.deliveries.dropped(session, session.flights, this.#moment);
    this.#parts.deliveries.unassign(session, this.#moment);
    session.flights = [];
    for (const sessions of this.#awaiting.values()) {
      sessions.delete(session);
    }
  }

  /** What is due for a session; nothing is done. */
  foresee(session: Session): Decision {
    return judge(session, this.#parts.view(session));
  }

  /** Judges a session and does what is due. */
  consider(session: Session): void {
    const view = this.#parts.view(session);
    const decision = judge(session, view);
    const refused = view.partition.refused.get(session.workload);
    this.#blocked.delete(session);
    switch (decision.kind) {
      case "silent":
        if (session.flights.length === 0 && decision.state !== AgentState.DEGRADED) {
          this.#blocked.add(session);
        }
        this.#show(session, decision.state, decision.detail);
        return;
      case "synced":
        this.#parts.deliveries.unassign(session, this.#moment);
        this.#showHead(session, AgentState.SYNCED, refused);
        // Its next step starts from this body, and STATUS shows its mode.
        if (this.#parts.bodies.get(session.sent.digest) === undefined) {
          this.#await(session, session.sent.digest);
        }
        return;
      case "contradiction":
        this.#show(session, AgentState.PENDING, `its claim contradicts the log ${session.words}`);
        this.#blocked.add(session);
        if (this.#moment.monotonicMs >= session.claimAtMs) {
          this.#parts.claims.advance(session);
        }
        return;
      case "push":
        this.#showHead(session, pendingState(session), refused);
        if (session.flights.length < WINDOW && !session.transferring && this.#isDue(session)) {
          this.#push(session, decision.head, decision.as, view);
        }
        return;
      default:
        decision satisfies never;
    }
  }

  /** Sends a message of the session that is counted in its sequence. */
  sendCounted(
    session: Session,
    body: keyof typeof BODY_FIELDS,
    own: Uint8Array,
    shared: Uint8Array = NO_BYTES,
  ): void {
    session.seq += 1;
    this.send(session, body, session.seq, own, shared);
  }

  /** Sends a message of the session; sequence 0 is not counted. */
  send(
    session: Session,
    body: keyof typeof BODY_FIELDS,
    seq: number,
    own: Uint8Array,
    shared: Uint8Array = NO_BYTES,
  ): void {
    const { partition } = this.#parts.view(session);
    const frame = {
      workload: session.workload,
      session: session.session,
      seq,
      epoch: partition.epoch,
      headVersion: session.sent.version,
      digest: session.sent.digest,
      inputs: partition.inputsBytes,
    };
    this.#parts.out.add({
      kind: "publish",
      subject: this.#parts.names.agentDown(session.workload),
      payload: encodeDown(frame, body, own, shared),
      ...(session.pushTrace === undefined ? {} : { trace: session.pushTrace }),
    });
  }

  #isDue(session: Session): boolean {
    if (this.#moment.monotonicMs >= session.retryAtMs) {
      return true;
    }
    this.#delayed.add(session);
    return false;
  }

  #push(session: Session, head: Point, as: "any" | "snapshot", view: View): void {
    if (session.doubtful.includes(head.digest) && session.retried.includes(head.digest)) {
      this.#askAgain(session);
      return;
    }
    const from = session.sent;
    if (as === "any" && from.version > 0 && from.digest !== "") {
      const step = this.#stepBetween(session, from.digest, head.digest);
      if (step === "wait") {
        return;
      }
      if (step !== "none" && step.length <= MESSAGE_BYTES) {
        const versions = deltaVersions(from.version, head.version);
        this.#track(session, head, "delta", view.partition.inputs);
        this.sendCounted(session, "delta", versions, step);
        this.#landed(session);
        return;
      }
    }
    this.#pushSnapshot(session, head, view.partition.inputs);
  }

  /**
   * Twice the outcome of a body was lost: perhaps it was refused, and a refused one is sent once more
   * at most. The agent's next Hello names what it has refused.
   */
  #askAgain(session: Session): void {
    session.retryAtMs = this.#moment.monotonicMs + ASK_AGAIN_MS;
    this.#delayed.add(session);
    const reason = "what became of a policy is not known";
    const directive = create(DirectiveSchema, { kind: DirectiveKind.RECONNECT, reason });
    this.send(session, "directive", 0, toBinary(DirectiveSchema, directive));
  }

  /** The shared bytes of a step, `wait` if a body has to come first, `none` if the base is gone. */
  #stepBetween(session: Session, from: string, to: string): Uint8Array | "wait" | "none" {
    if (from === to) {
      return NO_BYTES;
    }
    const { bodies, deltas } = this.#parts;
    const shared = deltas.between(from, to);
    if (shared !== undefined) {
      return shared.bytes;
    }
    if (bodies.isMissing(from)) {
      bodies.abandon(from);
      return "none";
    }
    this.#await(session, from);
    this.#await(session, to);
    return "wait";
  }

  #pushSnapshot(session: Session, head: Point, inputs: Inputs | undefined): void {
    const { bodies } = this.#parts;
    const body = bodies.get(head.digest);
    if (body === undefined) {
      this.#await(session, head.digest);
      return;
    }
    const bytes = bodies.snapshot(body);
    if (session.lastChance.includes(head.digest)) {
      // Counted as parked before it is sent: whatever becomes of it, it is not sent again.
      session.lastChance = withoutDigest(session.lastChance, head.digest);
      session.parked = withDigest(session.parked, head.digest, PARKED_KEPT);
    }
    if (session.doubtful.includes(head.digest)) {
      session.retried = withDigest(session.retried, head.digest, RETRIED_KEPT);
    }
    session.needsSnapshot = false;
    this.#track(session, head, "snapshot", inputs);
    if (bytes.length + 11 > MESSAGE_BYTES) {
      this.transfers.begin(session, head.version, bytes);
      return;
    }
    this.sendCounted(session, "snapshot", policyVersion(head.version), bytes);
    this.#landed(session);
  }

  /** Notes a push whose last message gets the session's next sequence, unless it is chunked. */
  #track(session: Session, head: Point, kind: Flight["kind"], inputs: Inputs | undefined): void {
    const { delivery } = session;
    session.pushTrace =
      delivery?.trace === undefined ? undefined : childTrace(delivery.trace, this.#moment.random);
    const flight: Flight = {
      seq: session.seq + 1,
      epoch: head.epoch,
      version: head.version,
      digest: head.digest,
      inputs,
      kind,
      sentMs: this.#moment.monotonicMs,
      delivery,
      trace: session.pushTrace,
      links: session.coalesced,
    };
    session.flights = [...session.flights, flight];
    session.sent = head;
    this.#parts.out.count("ringwall_pushes_total", { kind });
  }

  /** The change that the session had to get is on its way. */
  #landed(session: Session): void {
    session.delivery = undefined;
    session.coalesced = NO_TRACES;
    session.pushTrace = undefined;
  }

  #sendChunk(session: Session, fields: Uint8Array, data: Uint8Array, last: boolean): void {
    this.sendCounted(session, "chunk", fields, data);
    if (last) {
      this.#landed(session);
      // The agent acknowledges the last chunk.
      session.flights = session.flights.map((flight, index) =>
        index === session.flights.length - 1
          ? { ...flight, seq: session.seq, sentMs: this.#moment.monotonicMs }
          : flight,
      );
    }
  }

  #await(session: Session, digest: string): void {
    const sessions = this.#awaiting.get(digest) ?? new Set();
    sessions.add(session);
    this.#awaiting.set(digest, sessions);
  }

  #showHead(session: Session, state: AgentState, refused: string | undefined): void {
    if (refused !== undefined) {
      this.#show(session, AgentState.DEGRADED, `not rendered: ${refused}`);
    } else {
      this.#show(
        session,
        state,
        state === AgentState.SYNCED ? session.reportProblem : session.words,
      );
    }
  }

  #show(session: Session, state: AgentState, detail: string): void {
    if (session.state !== state || session.detail !== detail) {
      session.state = state;
      session.detail = detail;
      this.#parts.onChange(session);
    }
  }
}

/** A host that fails again and again is not just behind. */
function pendingState(session: Session): AgentState {
  return session.misses >= 3 ? AgentState.DEGRADED : AgentState.PENDING;
}
