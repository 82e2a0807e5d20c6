import { create, toBinary } from "@bufbuild/protobuf";
import type { Moment } from "@ringwall/actor";
import {
  AgentState,
  ContentWantSchema,
  LeaseBatchSchema,
  SessionTakenSchema,
} from "@ringwall/wire";
import { DEAD_INTERVALS } from "./limits.ts";
import type { GatewayParts } from "./parts.ts";
import type { Session } from "./session/session.ts";
import { pulseBytes } from "./wire/down-bytes.ts";
import { fromHex } from "./wire/hex.ts";

/** Workloads of one lease batch: well below the message limit. */
const LEASES_PER_BATCH = 5000;

/** Objects that are asked for with one message. */
const WANTS_PER_MESSAGE = 1000;

/** Sweeps between measurements and between looks for what is long gone. */
const MEASURE_EVERY = 5;
const TIDY_EVERY = 600;

const LEASE_MS = 1000;

const STATES = [
  ["synced", AgentState.SYNCED],
  ["pending", AgentState.PENDING],
  ["degraded", AgentState.DEGRADED],
  ["held", AgentState.HELD],
  ["unknown", AgentState.UNKNOWN],
  ["removed", AgentState.REMOVED],
] as const;

/**
 * What happens by the clock, for all sessions in one pass: pulses, silence, leases, STATUS, retries.
 * Nothing has a timer of its own.
 */
export class Sweep {
  readonly #parts: GatewayParts;
  readonly #queue: (session: Session) => void;
  #count = 0;
  #leasedMs = 0;

  /** `queue` puts a session in line to be judged. */
  constructor(parts: GatewayParts, queue: (session: Session) => void) {
    this.#parts = parts;
    this.#queue = queue;
  }

  /** One pass. */
  run(moment: Moment): void {
    const nowMs = moment.monotonicMs;
    const { reports, pusher, ground, out, loader } = this.#parts;
    this.#count += 1;
    this.#attend(moment);
    if (nowMs - this.#leasedMs >= LEASE_MS * 0.9) {
      this.#leasedMs = nowMs;
      this.#lease();
      this.#signOfLife();
    }
    reports.send(nowMs);
    this.askForContent(nowMs);
    for (const session of pusher.takeDelayed(nowMs)) {
      this.#queue(session);
    }
    for (const session of pusher.blocked) {
      this.#queue(session);
    }
    if (loader.isDone) {
      for (const effect of ground.ask(nowMs)) {
        out.add(effect);
      }
    }
    if (this.#count % MEASURE_EVERY === 0) {
      this.#parts.peers.relax();
      this.#parts.bodies.tidy((digest) => pusher.awaits(digest));
      this.#measure();
    }
    if (this.#count % TIDY_EVERY === 0) {
      this.#tidy(nowMs);
    }
  }

  /** Reads again what was missing, and asks whoever holds it to store it again. */
  askForContent(nowMs: number): void {
    const { objects, out, env } = this.#parts;
    const absent = objects.retry(nowMs);
    for (let at = 0; at < absent.length; at += WANTS_PER_MESSAGE) {
      const digests = absent.slice(at, at + WANTS_PER_MESSAGE).map(fromHex);
      out.count("ringwall_content_wants_total", undefined, digests.length);
      out.add({
        kind: "publish",
        subject: env.names.internal("content", "want"),
        payload: toBinary(ContentWantSchema, create(ContentWantSchema, { digests })),
      });
    }
  }

  /**
   * Pulses for a tenth of the sessions; an agent that has been silent for too long is gone. One that
   * has just acknowledged everything has heard us, and a pulse would have nothing to tell it.
   */
  #attend(moment: Moment): void {
    const { book, pusher, reports, heartbeatMs, out, partitions } = this.#parts;
    const heardMs = moment.monotonicMs - heartbeatMs / 2;
    const deadMs = heartbeatMs * DEAD_INTERVALS;
    const gone: Session[] = [];
    for (const session of book.nextTurn()) {
      if (moment.monotonicMs - session.seenMs > deadMs) {
        gone.push(session);
      } else if (session.ackedMs < heardMs || session.flights.length > 0) {
        pusher.send(session, "pulse", session.seq, pulseBytes(session.seq));
      }
    }
    for (const session of gone) {
      pusher.forget(session);
      reports.forget(session);
      // An agent that the log knows stays listed as missing; any other leaves no trace.
      book.close(session, partitions[session.partition]?.heads.has(session.workload) === true);
      out.count("ringwall_sessions_dead_total");
    }
  }

  #lease(): void {
    const { book, out, env } = this.#parts;
    let workloads: string[] = [];
    const send = () => {
      const batch = create(LeaseBatchSchema, { gateway: env.instance, workloads });
      const payload = toBinary(LeaseBatchSchema, batch);
      out.add({ kind: "publish", subject: env.names.lease, payload });
      workloads = [];
    };
    for (const session of book.sessions) {
      if (session.leased) {
        session.leased = false;
        workloads.push(session.workload);
        if (workloads.length === LEASES_PER_BATCH) {
          send();
        }
      }
    }
    if (workloads.length > 0) {
      send();
    }
  }

  /** Tells the other gateways, and this one itself, that it lives and is heard. */
  #signOfLife(): void {
    const { out, env } = this.#parts;
    const sign = create(SessionTakenSchema, { gateway: env.instance });
    const payload = toBinary(SessionTakenSchema, sign);
    out.add({ kind: "publish", subject: env.names.gatewaySession, payload });
  }

  #measure(): void {
    const { out, book, bodies, objects, reports, ground } = this.#parts;
    const counts = new Map<AgentState, number>();
    let flights = 0;
    for (const session of book.sessions) {
      counts.set(session.state, (counts.get(session.state) ?? 0) + 1);
      flights += session.flights.length;
    }
    const gauge = (name: string, value: number, labels?: Readonly<Record<string, string>>) => {
      out.add(
        labels === undefined
          ? { kind: "gauge", name, value }
          : { kind: "gauge", name, value, labels },
      );
    };
    for (const [state, value] of STATES) {
      gauge("ringwall_agents", counts.get(value) ?? 0, { state });
    }
    gauge("ringwall_unacked_pushes", flights);
    gauge("ringwall_bodies_pending", bodies.pending);
    gauge("ringwall_content_missing", objects.missing.length);
    gauge("ringwall_content_corrupt", bodies.corrupt);
    gauge("ringwall_reports_pending", reports.size);
    gauge("ringwall_held", ground.held === "" ? 0 : 1);
  }

  #tidy(nowMs: number): void {
    const { book, peers, out } = this.#parts;
    book.exorcise(nowMs);
    for (const subject of peers.dead(nowMs)) {
      out.fork({
        kind: "append",
        tag: "tidy",
        stream: "STATUS",
        subject,
        payload: new Uint8Array(),
        headers: { "KV-Operation": "PURGE", "Nats-Rollup": "sub" },
      });
    }
  }
}
