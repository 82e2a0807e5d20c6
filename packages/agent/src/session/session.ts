import { fromBinary } from "@bufbuild/protobuf";
import type { Moment } from "@ringwall/actor";
import {
  AckStatus,
  type Directive,
  DirectiveKind,
  type Down,
  DownSchema,
  type HelloAck,
  type InventoryReport,
} from "@ringwall/wire";
import type { CounterReading } from "../backend/backend.ts";
import type { BootState } from "../boot.ts";
import type { PolicyRecord } from "../record.ts";
import { ackWord } from "./ack-word.ts";
import { firstDelayMs, HEALTHY_MS, helloDelayMs } from "./backoff.ts";
import {
  type AgentEffect,
  type AgentEnv,
  type AgentMessage,
  COUNTERS_MS,
  DEAD_INTERVALS,
  DRIFT_MS,
  HEARTBEAT_MS,
  REPAIRS_MS,
  TIMERS,
} from "./contract.ts";
import { Intake, type IntakeAction } from "./intake.ts";
import { nonce } from "./nonce.ts";
import { type Open, type Phase, type SessionStatus, statusOf } from "./phase.ts";
import { PushTraces } from "./push-traces.ts";
import { encodeAck, encodeCounters, encodeHeartbeat, encodeHello, encodeInventory } from "./up.ts";

/** Stands for the effects between steps; nothing is ever added to it. */
const NOTHING: AgentEffect[] = [];
Object.freeze(NOTHING);

/**
 * One agent's session with the gateways. Pure: `step` takes a message and returns what to do. The
 * policy that is in force stays in force whatever happens to the session.
 */
export class AgentSession {
  readonly #env: AgentEnv;
  readonly #intake: Intake;
  readonly #traces: PushTraces;
  #phase: Phase = { kind: "closed" };
  #attempt = 0;
  #lastSession = 0n;
  #inventory: InventoryReport | undefined;
  #driftCount = 0;
  /** True if the next heartbeat has something to tell. */
  #beatNow = false;
  /** Effects of the present step. */
  #out: AgentEffect[] = NOTHING;

  constructor(env: AgentEnv, boot: BootState) {
    this.#env = env;
    this.#intake = new Intake(boot);
    this.#traces = new PushTraces(env.workload);
  }

  /** The session as people see it. */
  get status(): SessionStatus {
    return statusOf(this.#env.workload, this.#phase, this.#intake, this.#driftCount);
  }

  /** The policy in force, stored or not; undefined if there is none. */
  get inForce(): PolicyRecord | undefined {
    return this.#intake.inForce;
  }

  /** Takes one message; the effects are to be performed in order. */
  step(message: AgentMessage, moment: Moment): readonly AgentEffect[] {
    const out: AgentEffect[] = [];
    this.#out = out;
    this.#take(message, moment);
    // An idle session holds nothing of the last message.
    this.#out = NOTHING;
    return out;
  }

  #take(message: AgentMessage, moment: Moment): void {
    switch (message.kind) {
      case "start":
        this.#timer(TIMERS.drift, Math.ceil(moment.random() * DRIFT_MS));
        this.#timer(TIMERS.counters, Math.ceil(moment.random() * COUNTERS_MS));
        this.#dial(moment);
        break;
      case "reconnected":
        this.#attempt = 0;
        this.#dialLater(moment);
        break;
      case "stop":
        this.#phase = { kind: "closed" };
        for (const id of Object.values(TIMERS)) {
          this.#out.push({ kind: "cancel-timer", id });
        }
        break;
      case "timer":
        this.#onTimer(message.id, moment);
        break;
      case "delivery":
        this.#onDelivery(message.payload, moment, message.trace);
        break;
      case "applied":
        this.#perform(this.#intake.applied(message.outcome), moment);
        break;
      case "inventory":
        this.#onInventory(message.report, moment);
        break;
      case "drift":
        this.#onDrift(message.repaired, message.detail);
        break;
      case "counters":
        this.#onCounters(message.reading, moment);
        break;
      default:
        message satisfies never;
    }
  }

  /** Says Hello with a new nonce; it is repeated until a HelloAck with that nonce comes. */
  #dial(moment: Moment): void {
    this.#undial(moment);
    this.#phase = { kind: "dialling", nonce: nonce(moment) };
    this.#sayHello(moment);
  }

  /** Says Hello after a random while, so that many agents do not call at once. */
  #dialLater(moment: Moment): void {
    if (this.#phase.kind === "closed") {
      return;
    }
    this.#undial(moment);
    this.#phase = { kind: "dialling", nonce: nonce(moment) };
    const { random } = moment;
    const delayMs =
      this.#attempt === 0 ? firstDelayMs(random) : helloDelayMs(this.#attempt, random);
    this.#timer(TIMERS.hello, delayMs);
  }

  /** Leaves the present session: what came in it and was not begun is dropped. */
  #undial(moment: Moment): void {
    const phase = this.#phase;
    if (phase.kind === "open" && moment.monotonicMs - phase.sinceMs >= HEALTHY_MS) {
      this.#attempt = 0;
    }
    this.#intake.forget();
  }

  #sayHello(moment: Moment): void {
    if (this.#phase.kind !== "dialling") {
      return;
    }
    const payload = encodeHello(this.#env, {
      nonce: this.#phase.nonce,
      lastSession: this.#lastSession,
      record: this.#intake.record,
      installed: this.#intake.installed,
      inputs: this.#intake.latest?.inputs,
      refused: this.#intake.refused,
      inventory: this.#inventory,
    });
    this.#out.push({ kind: "publish", subject: this.#env.subjects.hello, payload });
    this.#timer(TIMERS.hello, helloDelayMs(this.#attempt, moment.random));
    this.#attempt += 1;
  }

  #onTimer(id: string, moment: Moment): void {
    switch (id) {
      case TIMERS.hello:
        this.#sayHello(moment);
        break;
      case TIMERS.heartbeat:
        this.#onHeartbeat(moment);
        break;
      case TIMERS.drift: {
        const { inForce, applying } = this.#intake;
        this.#timer(TIMERS.drift, DRIFT_MS);
        if (inForce !== undefined && !applying) {
          this.#out.push({ kind: "check-drift", policy: inForce.policy });
        }
        break;
      }
      case TIMERS.counters:
        this.#timer(TIMERS.counters, COUNTERS_MS);
        this.#out.push({ kind: "read-counters" });
        break;
      default:
        break;
    }
  }

  #onHeartbeat(moment: Moment): void {
    const phase = this.#phase;
    if (phase.kind !== "open") {
      return;
    }
    if (moment.monotonicMs - phase.heardMs > phase.intervalMs * DEAD_INTERVALS) {
      this.#count("agent_sessions_dead_total");
      this.#dial(moment);
      return;
    }
    // Whatever else was said since was as good a sign of life.
    const dueMs = this.#beatNow ? 0 : phase.saidMs + phase.intervalMs - moment.monotonicMs;
    if (dueMs <= 0) {
      const { record, installed } = this.#intake;
      const { session, lastSeq } = phase;
      this.#beatNow = false;
      this.#up(encodeHeartbeat(session, record, installed, lastSeq, this.#driftCount), moment);
    }
    this.#timer(TIMERS.heartbeat, dueMs <= 0 ? phase.intervalMs : Math.ceil(dueMs));
  }

  #onDelivery(payload: Uint8Array, moment: Moment, trace: string | undefined): void {
    let down: Down;
    try {
      down = fromBinary(DownSchema, payload);
    } catch {
      this.#count("agent_malformed_downs_total");
      return;
    }
    if (down.workloadId !== this.#env.workload) {
      this.#count("agent_foreign_downs_total");
      return;
    }
    if (down.body.case === "helloAck") {
      this.#onHelloAck(down, down.body.value, moment);
      return;
    }
    const phase = this.#phase;
    if (phase.kind !== "open" || down.session !== phase.session) {
      this.#count("agent_other_session_downs_total");
      return;
    }
    phase.heardMs = moment.monotonicMs;
    if (down.body.case === "pulse") {
      if (down.body.value.lastSeq > phase.lastSeq) {
        this.#count("agent_sequence_gaps_total");
        this.#dial(moment);
      }
      return;
    }
    if (down.body.case === "directive") {
      this.#onDirective(down.body.value, moment);
      return;
    }
    this.#traces.came(down, trace, moment);
    this.#onSequenced(phase, down, moment);
  }

  #onHelloAck(down: Down, ack: HelloAck, moment: Moment): void {
    const phase = this.#phase;
    const expected = phase.kind === "closed" ? undefined : phase.nonce;
    if (ack.nonce !== expected || down.session <= this.#lastSession) {
      this.#count("agent_other_session_downs_total");
      return;
    }
    const intervalMs = ack.heartbeatIntervalMs > 0 ? ack.heartbeatIntervalMs : HEARTBEAT_MS;
    this.#intake.forget();
    this.#lastSession = down.session;
    this.#phase = {
      kind: "open",
      nonce: ack.nonce,
      session: down.session,
      gateway: ack.gateway,
      intervalMs,
      sinceMs: moment.monotonicMs,
      lastSeq: down.seq,
      heardMs: moment.monotonicMs,
      saidMs: Number.NEGATIVE_INFINITY,
      state: ack.state === "" ? "" : `${ack.state}: ${ack.detail}`,
    };
    this.#out.push({ kind: "cancel-timer", id: TIMERS.hello });
    this.#timer(TIMERS.heartbeat, Math.ceil(intervalMs * (0.5 + moment.random() / 2)));
  }

  #onSequenced(phase: Open, down: Down, moment: Moment): void {
    if (down.seq <= phase.lastSeq) {
      this.#count("agent_repeated_downs_total");
      return;
    }
    if (down.seq !== phase.lastSeq + 1n || this.#intake.full) {
      this.#count("agent_sequence_gaps_total");
      this.#dial(moment);
      return;
    }
    phase.lastSeq = down.seq;
    phase.state = "";
    this.#perform(this.#intake.push(down), moment);
  }

  #onDirective(directive: Directive, moment: Moment): void {
    const fields = { workload: this.#env.workload, reason: directive.reason };
    switch (directive.kind) {
      case DirectiveKind.RECONNECT:
        this.#log("info", "told to reconnect", fields);
        this.#dialLater(moment);
        break;
      case DirectiveKind.REENROL:
        this.#log("warn", "told to enrol again", fields);
        break;
      default:
        this.#count("agent_malformed_downs_total");
    }
  }

  #perform(actions: readonly IntakeAction[], moment: Moment): void {
    for (const action of actions) {
      if (action.kind === "ack") {
        this.#onAck(action, moment);
      } else {
        this.#out.push(action);
      }
    }
  }

  #onAck({ down, status, detail }: IntakeAction & { kind: "ack" }, moment: Moment): void {
    const span = this.#traces.ended(down, status, ackWord(status), detail, moment);
    if (span !== undefined) {
      this.#out.push(span);
    }
    this.#out.push({
      kind: "count",
      name: "agent_acks_total",
      labels: { status: ackWord(status) },
    });
    if (status !== AckStatus.APPLIED) {
      const fields = { workload: this.#env.workload, version: String(down.headVersion), detail };
      const refused = status === AckStatus.REFUSED;
      this.#log("warn", refused ? "policy refused" : "push out of step", fields);
    }
    // An apply may outlive its session; the next Hello or Heartbeat tells what became of it.
    if (this.#phase.kind === "open" && this.#phase.session === down.session) {
      this.#up(encodeAck(down.session, down, status, detail), moment, span?.trace);
    }
  }

  #onInventory(report: InventoryReport, moment: Moment): void {
    this.#inventory = report;
    if (this.#phase.kind === "open") {
      this.#up(encodeInventory(this.#phase.session, report), moment);
    }
  }

  #onDrift(repaired: number, detail: string): void {
    if (repaired > 0) {
      this.#driftCount += repaired;
      this.#out.push({ kind: "count", name: "agent_drift_repairs_total", by: repaired });
      const fields = { workload: this.#env.workload, repaired, detail };
      this.#log("warn", "live ruleset repaired", fields);
      this.#beatSoon();
    }
  }

  /** Repairs are told of soon, and together if there are many. */
  #beatSoon(): void {
    if (this.#phase.kind === "open" && !this.#beatNow) {
      this.#beatNow = true;
      this.#timer(TIMERS.heartbeat, Math.min(REPAIRS_MS, this.#phase.intervalMs));
    }
  }

  #onCounters(reading: CounterReading | undefined, moment: Moment): void {
    const record = this.#intake.latest;
    if (this.#phase.kind === "open" && reading !== undefined && record !== undefined) {
      this.#up(encodeCounters(this.#phase.session, record, reading), moment);
    }
  }

  #up(payload: Uint8Array, { monotonicMs }: Moment, trace?: string): void {
    if (this.#phase.kind === "open") {
      this.#phase.saidMs = monotonicMs;
      const subject = this.#env.subjects.up(this.#phase.gateway);
      const traced = trace === undefined ? {} : { trace };
      this.#out.push({ kind: "publish", subject, payload, ...traced });
    }
  }

  #timer(id: string, delayMs: number): void {
    this.#out.push({ kind: "timer", id, delayMs });
  }

  #count(name: string): void {
    this.#out.push({ kind: "count", name });
  }

  #log(
    level: "info" | "warn",
    message: string,
    fields: Readonly<Record<string, string | number>>,
  ): void {
    this.#out.push({ kind: "log", level, message, fields });
  }
}

/** A session for an agent that has booted. */
export function createAgentSession(env: AgentEnv, boot: BootState): AgentSession {
  return new AgentSession(env, boot);
}
