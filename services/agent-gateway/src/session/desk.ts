import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Message, Moment } from "@ringwall/actor";
import { type Names, partitionOf } from "@ringwall/bus";
import {
  AgentState,
  DirectiveKind,
  DirectiveSchema,
  type Hello,
  HelloAckSchema,
  SessionTakenSchema,
  type Up,
  UpSchema,
} from "@ringwall/wire";
import { FACTS_LIMIT, PARKED_KEPT, SESSION_LIMIT } from "../limits.ts";
import type { Outbox } from "../outbox.ts";
import type { Peers } from "../status/peers.ts";
import { type Ack, readAck } from "../wire/ack-bytes.ts";
import { encodeDown } from "../wire/down-bytes.ts";
import { toHex } from "../wire/hex.ts";
import { type AckParts, takeAck, takeHeartbeat } from "./acks.ts";
import type { Book } from "./book.ts";
import type { GatewayWatch } from "./gateway-watch.ts";
import type { Orphans } from "./orphans.ts";
import type { Pusher } from "./pusher.ts";
import type { Reports } from "./reports.ts";
import { NO_DIGESTS, type Point, Session, withDigest } from "./session.ts";

const WORKLOAD = /^[a-z0-9_-]{1,64}$/;
const NO_BYTES = new Uint8Array();
const NO_FACTS: Readonly<Record<string, string>> = Object.freeze({});

/** A Hello that is repeated within this time has been answered. */
const REPEAT_MS = 1000;

/** Equal facts of many agents are one object; the table is emptied when it has grown to this. */
const FACTS_KEPT = 1024;

type Delivered = Extract<Message, { kind: "delivery" }>;

/** What the desk works with. */
export interface DeskParts {
  readonly names: Names;
  readonly gateway: string;
  readonly heartbeatMs: number;
  readonly out: Outbox;
  readonly book: Book;
  readonly peers: Peers;
  readonly watch: GatewayWatch;
  readonly orphans: Orphans;
  readonly pusher: Pusher;
  readonly reports: Reports;
  readonly acks: AckParts;
  /** A session's state or acknowledged version is another one. */
  readonly onChange: (session: Session) => void;
  /** An agent acknowledged a push. */
  readonly onAck: (session: Session, ack: Ack) => void;
}

/** Takes what agents and other gateways say. An agent is named by the subject, never by the payload. */
export class Desk {
  readonly #parts: DeskParts;
  readonly #facts = new Map<string, Readonly<Record<string, string>>>();

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  /**
   * An agent says Hello: this gateway owns its session now. `isLate` is set for one that somebody
   * else was perhaps handed and nobody took.
   */
  hello(message: Delivered, moment: Moment, isLate = false): void {
    const workload = workloadOf(message);
    const up = this.#read(message.payload);
    if (up?.body.case !== "hello" || !WORKLOAD.test(workload)) {
      this.#parts.out.count("ringwall_malformed_ups_total");
      return;
    }
    const former = this.#parts.book.get(workload);
    const isRecent = former !== undefined && moment.monotonicMs - former.openedMs < REPEAT_MS;
    if (former?.nonce === up.body.value.nonce && (isLate || isRecent)) {
      // Repeated before our answer can have arrived; if that was lost, it is repeated once more. A body
      // that was still being tried may have been refused meanwhile.
      former.parked = parkedOf(up.body.value, former.has, former.parked);
      this.#parts.out.count("ringwall_repeated_hellos_total");
      return;
    }
    const number = this.#sessionNumber(workload, up.body.value, moment);
    if (number > SESSION_LIMIT) {
      this.#parts.out.count("ringwall_malformed_ups_total");
      return;
    }
    this.#open(workload, number, up, up.body.value, moment, isLate);
  }

  /** An agent says Hello to whoever is handed it. */
  overheard(message: Delivered, moment: Moment): void {
    this.#parts.orphans.heard(workloadOf(message), message, moment.monotonicMs);
  }

  /** An agent of ours says something. */
  up(message: Delivered, moment: Moment): void {
    const workload = message.subject.split(".").at(-3) ?? "";
    const ack = readAck(message.payload);
    const up = ack === undefined ? this.#read(message.payload) : undefined;
    const said = ack?.session ?? (up === undefined ? undefined : Number(up.session));
    if (said === undefined || said > SESSION_LIMIT || !WORKLOAD.test(workload)) {
      this.#parts.out.count("ringwall_malformed_ups_total");
      return;
    }
    const session = this.#parts.book.get(workload);
    if (session?.session !== said) {
      this.#parts.out.count("ringwall_other_session_ups_total");
      if (session === undefined || said > session.session) {
        this.#direct(workload, BigInt(said), "this gateway has no such session");
      }
      return;
    }
    session.seenMs = moment.monotonicMs;
    session.seenUnixMs = moment.wallMs;
    session.leased = true;
    if (ack !== undefined) {
      this.#takeAck(session, ack, moment);
    } else if (up !== undefined) {
      this.#take(session, up, moment);
    }
  }

  /** Another gateway took a session, or any gave a sign of life. */
  taken(payload: Uint8Array, moment: Moment): void {
    let taken: { workload: string; session: bigint; gateway: string };
    try {
      taken = fromBinary(SessionTakenSchema, payload);
    } catch {
      this.#parts.out.count("ringwall_malformed_ups_total");
      return;
    }
    if (taken.workload === "") {
      this.#heard(taken.gateway, moment);
      return;
    }
    this.#parts.orphans.taken(taken.workload, moment.monotonicMs);
    if (taken.gateway === this.#parts.gateway) {
      return;
    }
    const session = this.#parts.book.get(taken.workload);
    const mine = BigInt(session?.session ?? 0);
    if (session === undefined) {
      this.#parts.book.forget(taken.workload);
    } else if (taken.session > mine) {
      this.#direct(taken.workload, mine, "a newer session was opened elsewhere");
      this.#drop(session);
    } else if (taken.session === mine && taken.gateway > this.#parts.gateway) {
      // Two gateways took the same Hello in the same millisecond: one of them has to give way.
      this.#drop(session);
    }
  }

  /** Tells every agent to look for another gateway. */
  dismiss(reason: string): void {
    for (const session of this.#parts.book.sessions) {
      this.#direct(session.workload, BigInt(session.session), reason);
    }
  }

  /** Agents of a gateway that is gone are told at once; by themselves they notice much later. */
  #heard(gateway: string, moment: Moment): void {
    const { watch, peers, book, out } = this.#parts;
    for (const gone of watch.heard(gateway, moment.monotonicMs)) {
      out.count("ringwall_gateways_gone_total");
      for (const [workload, { session }] of peers.entriesOf(gone)) {
        if (book.get(workload) === undefined) {
          this.#direct(workload, BigInt(session), "its gateway is gone");
        }
      }
    }
  }

  #drop(session: Session): void {
    this.#parts.out.count("ringwall_superseded_sessions_total");
    this.#parts.pusher.forget(session);
    this.#parts.reports.forget(session);
    this.#parts.book.forget(session.workload);
  }

  #sessionNumber(workload: string, hello: Hello, moment: Moment): number {
    const { book, peers } = this.#parts;
    const listed = book.get(workload) ?? book.ghost(workload);
    return Math.max(
      Math.trunc(moment.wallMs),
      Number(hello.lastSession) + 1,
      (listed?.session ?? 0) + 1,
      peers.sessionOf(workload) + 1,
    );
  }

  /** Registers, reads the head and sends, all in this step: no gap, and nothing overtakes. */
  #open(
    workload: string,
    number: number,
    up: Up,
    hello: Hello,
    moment: Moment,
    isLate: boolean,
  ): void {
    const { book, peers, pusher, reports, out } = this.#parts;
    const former = book.get(workload);
    if (former !== undefined) {
      if (BigInt(former.session) !== up.session && former.nonce !== hello.nonce) {
        // Another agent with this id, or one that has lost its memory: the newest wins.
        out.count("ringwall_superseded_sessions_total");
        this.#direct(workload, BigInt(former.session), "a newer session was opened");
      }
      pusher.forget(former);
      reports.forget(former);
    }
    const has = claimed(hello);
    const listed = former ?? book.ghost(workload);
    const session = new Session({
      workload,
      partition: partitionOf(workload),
      session: number,
      nonce: hello.nonce,
      schemaLevel: hello.schemaLevel,
      agentVersion: hello.agentVersion.slice(0, 64),
      facts: this.#internFacts(hello.facts),
      has,
      inputs: hello.inputs,
      parked: parkedOf(hello, has, [...peers.parkedOf(workload), ...(listed?.parked ?? [])]),
      nowMs: moment.monotonicMs,
      nowUnixMs: moment.wallMs,
    });
    // Whoever had the Hello may have pushed all the same, and been refused: a body that is sent whole
    // is not tried again.
    session.needsSnapshot ||= isLate;
    book.open(session);
    this.#acknowledge(session, hello.nonce);
    const taken = create(SessionTakenSchema, {
      workload,
      session: BigInt(number),
      gateway: this.#parts.gateway,
    });
    out.add({
      kind: "publish",
      subject: this.#parts.names.gatewaySession,
      payload: toBinary(SessionTakenSchema, taken),
    });
    if (hello.inventory !== undefined) {
      reports.add(session, hello.inventory);
    }
    out.count("ringwall_sessions_opened_total");
    pusher.consider(session);
  }

  #acknowledge(session: Session, nonce: bigint): void {
    const { pusher } = this.#parts;
    const decision = pusher.foresee(session);
    const withheld = decision.kind === "silent" ? WITHHELD[decision.state] : undefined;
    const ack = create(HelloAckSchema, {
      nonce,
      gateway: this.#parts.gateway,
      heartbeatIntervalMs: this.#parts.heartbeatMs,
      ...(decision.kind === "silent" && withheld !== undefined
        ? { state: withheld, detail: decision.detail }
        : {}),
    });
    pusher.sendCounted(session, "helloAck", toBinary(HelloAckSchema, ack));
  }

  #takeAck(session: Session, ack: Ack, moment: Moment): void {
    takeAck(this.#parts.acks, session, ack, moment);
    this.#parts.onChange(session);
    this.#parts.onAck(session, ack);
    this.#parts.pusher.consider(session);
  }

  #take(session: Session, up: Up, moment: Moment): void {
    const { pusher, reports, acks, onChange } = this.#parts;
    const { body } = up;
    switch (body.case) {
      case "heartbeat": {
        const { drift, version } = { drift: session.driftCount, version: session.has.version };
        takeHeartbeat(acks, session, body.value, moment);
        if (session.driftCount !== drift || session.has.version !== version) {
          onChange(session);
        }
        pusher.consider(session);
        return;
      }
      case "inventory":
        reports.add(session, body.value);
        return;
      case "counters": {
        const drops = body.value.wouldDrops.length;
        this.#parts.out.count("ringwall_would_drop_reports_total", undefined, drops);
        return;
      }
      default:
        this.#parts.out.count("ringwall_malformed_ups_total");
    }
  }

  #read(payload: Uint8Array): Up | undefined {
    try {
      return fromBinary(UpSchema, payload);
    } catch {
      return undefined;
    }
  }

  /** A directive is not counted in the session's sequence: the agent may be out of step with it. */
  #direct(workload: string, session: bigint, reason: string): void {
    const directive = create(DirectiveSchema, { kind: DirectiveKind.RECONNECT, reason });
    const frame = {
      workload,
      session: Number(session),
      seq: 0,
      epoch: 0n,
      headVersion: 0,
      digest: "",
      inputs: NO_BYTES,
    };
    this.#parts.out.add({
      kind: "publish",
      subject: this.#parts.names.agentDown(workload),
      payload: encodeDown(frame, "directive", toBinary(DirectiveSchema, directive)),
    });
  }

  #internFacts(facts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const text = JSON.stringify(facts);
    if (text === "{}" || text.length > FACTS_LIMIT) {
      return NO_FACTS;
    }
    const known = this.#facts.get(text);
    if (known !== undefined) {
      return known;
    }
    if (this.#facts.size >= FACTS_KEPT) {
      this.#facts.clear();
    }
    this.#facts.set(text, facts);
    return facts;
  }
}

function workloadOf(hello: Delivered): string {
  return hello.subject.split(".").at(-2) ?? "";
}

/** States in which nothing is pushed, as a HelloAck names them. */
const WITHHELD: Readonly<Partial<Record<number, string>>> = {
  [AgentState.HELD]: "HELD",
  [AgentState.UNKNOWN]: "UNKNOWN",
  [AgentState.REMOVED]: "REMOVED",
};

function claimed(hello: Hello): Point {
  return {
    epoch: hello.epoch,
    version: Number(hello.appliedVersion),
    digest: hello.digest.length === 32 ? toHex(hello.digest) : "",
  };
}

/**
 * Refused bodies by the agent's word, by STATUS and by this gateway's own memory: another gateway may
 * have had the agent since. The one in force is not refused.
 */
function parkedOf(hello: Hello, has: Point, listed: readonly string[]): readonly string[] {
  let parked: readonly string[] = [...new Set(listed)].slice(-PARKED_KEPT);
  for (const digest of hello.refusedDigests.slice(-PARKED_KEPT)) {
    if (digest.length === 32) {
      parked = withDigest(parked, toHex(digest), PARKED_KEPT);
    }
  }
  const rest = parked.filter((digest) => digest !== has.digest);
  return rest.length === 0 ? NO_DIGESTS : rest;
}
