import type { Effect, Message, Moment, StoredRecord } from "@ringwall/actor";
import type { ServiceEnv, ServiceReducer } from "@ringwall/bus";
import { AckStatus } from "@ringwall/wire";
import { Objects } from "./content/objects.ts";
import { HEARTBEAT_MS } from "./limits.ts";
import { Line } from "./line.ts";
import { LogIntake } from "./log-intake.ts";
import { listenOperations, operate } from "./operations.ts";
import { createParts, type GatewayParts } from "./parts.ts";
import { Claims } from "./session/claims.ts";
import { Desk } from "./session/desk.ts";
import { Orphans } from "./session/orphans.ts";
import { Reports } from "./session/reports.ts";
import { TRANSFER_TIMER } from "./session/transfers.ts";
import { REST_MS } from "./status/pages.ts";
import { Sweep } from "./sweep.ts";
import type { Ack } from "./wire/ack-bytes.ts";
import { isBelow } from "./wire/inputs.ts";

const SWEEP_TIMER = "sweep";
const CONTENT_TIMER = "content";
const CONTENT_MS = 200;
const PAGES = "pages";
const PAGES_TIMER = "pages";

/** The gateway as a reducer: every session, every log that it depends on, and nothing else. */
export class Gateway implements ServiceReducer {
  readonly #parts: GatewayParts;
  readonly #desk: Desk;
  readonly #line: Line;
  readonly #logs: LogIntake;
  readonly #sweep: Sweep;
  readonly #sweepMs: number;
  readonly #orphans = new Orphans();
  #caring = false;
  #listening = false;
  #stopping = false;
  #contentTimer = false;
  #pagesTimer = false;
  #ready: string | undefined;
  #moment: Moment = { wallMs: 0, monotonicMs: 0, random: () => 0 };

  constructor(env: ServiceEnv) {
    const heartbeatMs = Number(env.options.heartbeatMs ?? HEARTBEAT_MS);
    const parts = createParts(env, heartbeatMs);
    this.#parts = parts;
    this.#sweepMs = Math.min(1000, Math.ceil(heartbeatMs / 10));
    this.#line = new Line(parts);
    this.#logs = new LogIntake(parts, this.#line);
    this.#sweep = new Sweep(parts, (session) => this.#line.add(session));
    this.#desk = new Desk({
      names: env.names,
      gateway: env.instance,
      heartbeatMs,
      out: parts.out,
      book: parts.book,
      peers: parts.peers,
      watch: parts.watch,
      orphans: this.#orphans,
      pusher: parts.pusher,
      reports: parts.reports,
      acks: {
        out: parts.out,
        deliveries: parts.deliveries,
        transfers: parts.pusher.transfers,
        heartbeatMs,
      },
      onChange: (session) => parts.pages.touch(session),
      onAck: (session, ack) => this.#tellAck(session.workload, ack),
    });
  }

  step(message: Message, moment: Moment): readonly Effect[] {
    const { out, pusher, events, reports, objects, pages } = this.#parts;
    this.#moment = moment;
    pusher.at(moment);
    pages.at(moment);
    for (const effect of events.server.step(message, moment)) {
      out.add(effect);
    }
    this.#take(message);
    for (const digest of this.#parts.bodies.takeReady()) {
      for (const session of pusher.takeAwaiting(digest)) {
        this.#parts.pages.touch(session);
        this.#line.add(session);
      }
    }
    this.#line.drain();
    reports.send(moment.monotonicMs);
    for (const effect of objects.reads()) {
      out.add(effect);
    }
    this.#schedulePages();
    this.#listen();
    this.#tellWatchers();
    this.#tellReady();
    return out.take();
  }

  status() {
    const reached = this.#parts.partitions.map((partition) => partition.reached);
    const lowest = reached.reduce((low, inputs) => (isBelow(inputs, low) ? inputs : low));
    return lowest === undefined ? {} : { inputs: lowest };
  }

  #take(message: Message): void {
    switch (message.kind) {
      case "start":
        this.#start();
        break;
      case "stop":
        this.#stop();
        break;
      case "record":
        this.#logs.take(message.reader, message.record, this.#moment);
        break;
      case "caught-up":
        this.#logs.caughtUp(message.reader, message.sequence, this.#moment);
        break;
      case "reader-lost":
        this.#logs.lost(message.reader, message.detail, this.#moment);
        break;
      case "delivery":
        this.#deliver(message);
        break;
      case "timer":
        this.#onTimer(message.id);
        break;
      case "read":
        this.#onRead(message.tag, message.record);
        break;
      case "response":
        this.#onResponse(message.tag, message.payload);
        break;
      case "failed":
        this.#onFailed(message.tag, message.detail);
        break;
      case "appended":
        this.#parts.pages.written(message.tag, true);
        break;
      case "stream-info":
        if (this.#parts.loader.answer(message)) {
          this.#logs.nameAll(this.#moment);
        } else if (this.#parts.loader.isReplaced(message)) {
          this.#logs.replaced(this.#moment);
        } else if (this.#parts.ground.answer(message)) {
          this.#line.addBlocked();
        }
        break;
      case "again":
        if (message.tag === PAGES) {
          this.#writePages();
        } else {
          this.#line.resume();
        }
        break;
      case "reconnected":
      case "trimmed":
        break;
      default:
        message satisfies never;
    }
  }

  #start(): void {
    const { out, env, loader, ground } = this.#parts;
    out.add({ kind: "listen", listener: "taken", subject: env.names.gatewaySession });
    out.add({ kind: "listen", listener: "up", subject: env.names.agentUp("*", env.instance) });
    for (const effect of listenOperations(this.#parts)) {
      out.add(effect);
    }
    for (const effect of ground.ask(this.#moment.monotonicMs, true)) {
      out.add(effect);
    }
    out.add({ kind: "timer", id: SWEEP_TIMER, delayMs: this.#sweepMs });
    loader.start();
  }

  /** Agents are heard once everything that their Hellos are judged by has been read, if it is ours. */
  #listen(): void {
    const { loader, out, env, ground } = this.#parts;
    const may = ground.wrongEnvironment === "" && !this.#stopping;
    if (!may && this.#listening) {
      this.#listening = false;
      out.add({ kind: "unlisten", listener: "hello" });
    } else if (may && !this.#listening && loader.isDone) {
      this.#listening = true;
      const subject = env.names.agentHello("*");
      out.add({ kind: "listen", listener: "hello", subject, queue: "gateway" });
    }
  }

  /** While a gateway is gone, Hellos that it was handed are taken by one of those that live. */
  #care(): void {
    const { out, env, watch } = this.#parts;
    const cares = this.#listening && watch.cares(this.#moment.monotonicMs);
    if (cares !== this.#caring) {
      this.#caring = cares;
      this.#orphans.clear();
      out.add(
        cares
          ? { kind: "listen", listener: "orphans", subject: env.names.agentHello("*") }
          : { kind: "unlisten", listener: "orphans" },
      );
    }
    for (const hello of this.#orphans.due(this.#moment.monotonicMs)) {
      out.count("ringwall_orphaned_hellos_total");
      this.#desk.hello(hello, this.#moment, true);
    }
  }

  #stop(): void {
    this.#stopping = true;
    this.#desk.dismiss("this gateway stops");
  }

  #deliver(message: Extract<Message, { kind: "delivery" }>): void {
    switch (message.listener) {
      case "hello":
        this.#desk.hello(message, this.#moment);
        break;
      case "up":
        this.#desk.up(message, this.#moment);
        break;
      case "taken":
        this.#desk.taken(message.payload, this.#moment);
        break;
      case "orphans":
        this.#desk.overheard(message, this.#moment);
        break;
      default:
        operate(this.#parts, message, this.#moment);
    }
  }

  #onTimer(id: string): void {
    const { out, pusher, loader } = this.#parts;
    if (id === SWEEP_TIMER) {
      out.add({ kind: "timer", id: SWEEP_TIMER, delayMs: this.#sweepMs });
      this.#sweep.run(this.#moment);
      this.#logs.lookAgain(this.#moment);
      this.#care();
      this.#writePages();
    } else if (id === TRANSFER_TIMER) {
      pusher.transfers.turn();
    } else if (id === PAGES_TIMER) {
      this.#pagesTimer = false;
      this.#writePages();
    } else if (id === CONTENT_TIMER) {
      this.#contentTimer = false;
      this.#sweep.askForContent(this.#moment.monotonicMs);
      this.#scheduleContent();
    } else {
      loader.timer(id);
    }
  }

  #writePages(): void {
    const { monotonicMs, wallMs } = this.#moment;
    if (this.#parts.pages.write(monotonicMs, wallMs)) {
      this.#parts.out.add({ kind: "again", tag: PAGES });
    }
  }

  #schedulePages(): void {
    if (!this.#pagesTimer && this.#parts.pages.dirty) {
      this.#pagesTimer = true;
      this.#parts.out.add({ kind: "timer", id: PAGES_TIMER, delayMs: REST_MS });
    }
  }

  #onRead(tag: string, record: StoredRecord | undefined): void {
    const { objects, claims, bodies, pusher } = this.#parts;
    if (Claims.isTag(tag)) {
      for (const session of claims.verified(tag, record)) {
        this.#line.add(session);
      }
      return;
    }
    const more: Effect[] = [];
    const answer = objects.answer(tag, record, this.#moment.monotonicMs, more);
    for (const effect of more) {
      this.#parts.out.add(effect);
    }
    if (answer?.found === true) {
      bodies.arrived(answer.digest);
    } else if (answer !== undefined) {
      this.#scheduleContent();
      for (const digest of bodies.waitingFor(answer.digest)) {
        for (const session of pusher.takeAwaiting(digest)) {
          this.#line.add(session);
        }
      }
    }
  }

  #onResponse(tag: string, payload: Uint8Array): void {
    const { claims, reports } = this.#parts;
    const nowMs = this.#moment.monotonicMs;
    const session = Reports.isTag(tag)
      ? reports.answered(tag, payload, nowMs)
      : claims.answered(tag, payload, nowMs);
    if (session !== undefined) {
      this.#line.add(session);
    }
  }

  #onFailed(tag: string, detail: string): void {
    const { claims, reports, loader, pages, out } = this.#parts;
    const nowMs = this.#moment.monotonicMs;
    if (Objects.isTag(tag)) {
      this.#onRead(tag, undefined);
    } else if (Claims.isTag(tag)) {
      const session = claims.failed(tag, nowMs);
      if (session !== undefined) {
        this.#line.add(session);
      }
    } else if (Reports.isTag(tag)) {
      reports.failed(tag, nowMs);
    } else if (!pages.written(tag, false) && !loader.failed(tag)) {
      const fields = { tag, detail };
      out.add({ kind: "log", level: "warn", message: "an effect failed", fields });
    }
  }

  #scheduleContent(): void {
    if (!this.#contentTimer && this.#parts.objects.missing.length > 0) {
      this.#contentTimer = true;
      this.#parts.out.add({ kind: "timer", id: CONTENT_TIMER, delayMs: CONTENT_MS });
    }
  }

  #tellAck(workload: string, ack: Ack): void {
    const { events } = this.#parts;
    if (events.watched) {
      const { monotonicMs, wallMs } = this.#moment;
      const word = ACK_WORDS[ack.status] ?? "OUT_OF_STEP";
      const at = { epoch: BigInt(ack.epoch), version: BigInt(ack.version) };
      events.ack(workload, at, word, ack.detail, monotonicMs, wallMs);
    }
  }

  #tellWatchers(): void {
    const { events, out } = this.#parts;
    if (!events.watched) {
      events.clear();
      return;
    }
    events.complete(this.#moment.monotonicMs);
    for (const effect of events.server.changed()) {
      out.add(effect);
    }
  }

  #tellReady(): void {
    const { loader, ground, out } = this.#parts;
    const reason = loader.missing === "" ? held(ground.held) : loader.missing;
    if (reason !== this.#ready) {
      this.#ready = reason;
      out.add(
        reason === "" ? { kind: "ready", ready: true } : { kind: "ready", ready: false, reason },
      );
    }
  }
}

/** A gateway with its own sessions; any number of them serve one control plane. */
export function createGateway(env: ServiceEnv): ServiceReducer {
  return new Gateway(env);
}

const ACK_WORDS: Readonly<Partial<Record<number, string>>> = {
  [AckStatus.APPLIED]: "APPLIED",
  [AckStatus.REFUSED]: "REFUSED",
  [AckStatus.OUT_OF_STEP]: "OUT_OF_STEP",
};

function held(reason: string): string {
  return reason === "" ? "" : `held: ${reason}`;
}
