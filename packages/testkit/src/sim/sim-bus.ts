import type { Headers, Message, Reducer, StoredRecord } from "@ringwall/actor";
import { type Names, names, STREAMS, type StreamName, streamSettings } from "@ringwall/bus";
import { type CoreMessage, SimCore } from "./core.ts";
import { type Faults, NO_FAULTS } from "./faults.ts";
import { seededRandom } from "./random.ts";
import { Schedule } from "./schedule.ts";
import { type ActorHost, SimActor, type SimActorOptions } from "./sim-actor.ts";
import { SimStream, type StreamCopy } from "./stream.ts";

const WALL_START_MS = Date.UTC(2026, 0, 1);
const MAX_PAYLOAD = 1024 * 1024;
/** Events at one moment that show that actors keep each other busy without end. */
const EVENTS_PER_RUN = 20_000_000;

/** Options of a simulated bus. */
export interface SimBusOptions {
  /** The same seed, actors and calls give the same history. */
  readonly seed: number;
  readonly prefix?: string;
  readonly faults?: Partial<Faults>;
  /** Largest message in bytes; default 1 MiB, as nats-server's. */
  readonly maxPayload?: number;
}

/** The answer to a request from outside, once it is there. */
export interface SimAnswer {
  payload: Uint8Array | undefined;
  failed: "no-responders" | "timeout" | undefined;
}

/** Called after every step of every actor. */
export type StepHook = (actor: SimActor, message: Message["kind"]) => void;

/** Called after every message that a stream has taken. */
export type StoredHook = (stream: StreamName, record: StoredRecord) => void;

/**
 * NATS with JetStream in memory: one thread, virtual time, one seed. It performs the same effects for
 * the same reducers as the driver on NATS, with the semantics that matter, and has whatever may go
 * wrong go wrong.
 */
export class SimBus {
  readonly seed: number;
  readonly names: Names;
  readonly core: SimCore;
  readonly #schedule = new Schedule();
  readonly #random: () => number;
  readonly #streams = new Map<string, SimStream>();
  readonly #streamNames = new Map<SimStream, StreamName>();
  readonly #actors = new Map<string, SimActor>();
  readonly #hooks: StepHook[] = [];
  readonly #storedHooks: StoredHook[] = [];
  readonly #host: ActorHost;
  #faults: Faults;
  #created = 0n;
  #inboxes = 0;
  #steps = 0;

  constructor(options: SimBusOptions) {
    this.seed = options.seed;
    this.names = names(options.prefix);
    this.#random = seededRandom(options.seed);
    this.#faults = { ...NO_FAULTS, ...options.faults };
    this.#host = this.#hostOf(options.maxPayload ?? MAX_PAYLOAD);
    this.core = this.#host.core;
    for (const [name, settings] of streamSettings(this.names)) {
      const stream = new SimStream(settings, this.#nextCreated());
      this.#streams.set(name, stream);
      this.#streamNames.set(stream, name);
    }
  }

  /** Virtual milliseconds since the beginning. */
  get nowMs(): number {
    return this.#schedule.nowMs;
  }

  /** The true wall clock, Unix milliseconds. */
  get wallMs(): number {
    return WALL_START_MS + this.#schedule.nowMs;
  }

  /** Steps of all actors so far. */
  get steps(): number {
    return this.#steps;
  }

  get faults(): Faults {
    return this.#faults;
  }

  /** All actors by name. */
  get actors(): ReadonlyMap<string, SimActor> {
    return this.#actors;
  }

  /** A number of the simulation's own chance. */
  random(): number {
    return this.#random();
  }

  /** Changes faults from now on; those not named become 0 unless `keep` is set. */
  setFaults(faults: Partial<Faults>, keep = false): void {
    this.#faults = { ...(keep ? this.#faults : NO_FAULTS), ...faults };
  }

  /** Calls back after every step of every actor. */
  onStep(hook: StepHook): void {
    this.#hooks.push(hook);
  }

  /** Calls back after every message that a stream has taken. */
  onStored(hook: StoredHook): void {
    this.#storedHooks.push(hook);
  }

  /** Adds an actor and starts it. */
  spawn<R extends Reducer>(name: string, options: SimActorOptions<R>): SimActor<R> {
    if (this.#actors.has(name)) {
      throw new Error(`there is an actor "${name}" already`);
    }
    const actor = new SimActor<R>(this.#host, name, options);
    this.#actors.set(name, actor);
    return actor;
  }

  /** Ends an actor for good. */
  remove(name: string): void {
    this.#actors.get(name)?.crash();
    this.#actors.delete(name);
  }

  /** A stream by its logical name. */
  stream(name: StreamName): SimStream {
    return this.#host.stream(name);
  }

  /** Runs one event; false if nothing is to come. */
  runNext(): boolean {
    return this.#schedule.runNext();
  }

  /** Runs everything that is due within so many virtual milliseconds, and moves time there. */
  run(forMs: number): void {
    const untilMs = this.#schedule.nowMs + forMs;
    for (let events = 0; ; events += 1) {
      const nextMs = this.#schedule.nextMs;
      if (nextMs === undefined || nextMs > untilMs) {
        break;
      }
      if (events > EVENTS_PER_RUN) {
        throw new Error(
          `more than ${EVENTS_PER_RUN} events within ${forMs} ms (seed ${this.seed})`,
        );
      }
      this.#schedule.runNext();
    }
    this.#schedule.moveTo(untilMs);
  }

  /** Runs until a condition holds; throws with the seed if it does not within the limit. */
  runUntil(what: string, holds: () => boolean, limitMs = 60_000): void {
    const untilMs = this.#schedule.nowMs + limitMs;
    while (!holds()) {
      const nextMs = this.#schedule.nextMs;
      if (nextMs === undefined || nextMs > untilMs) {
        throw new Error(`${what} did not happen within ${limitMs} virtual ms (seed ${this.seed})`);
      }
      this.#schedule.runNext();
    }
  }

  /** Calls back after so many virtual milliseconds; the result takes it back. */
  after(delayMs: number, call: () => void): () => void {
    return this.#schedule.after(delayMs, call);
  }

  /** Publishes from outside. */
  publish(subject: string, payload: Uint8Array, headers: Headers = {}): void {
    this.core.publish("outside", { subject, payload, headers, replyTo: undefined });
  }

  /** Listens from outside; the result ends it. */
  subscribe(filter: string, take: (message: CoreMessage) => void): () => void {
    return this.core.subscribe({ filter, queue: undefined, owner: "outside", take });
  }

  /** Asks from outside; the answer fills in while the simulation runs. */
  request(subject: string, payload: Uint8Array, timeoutMs = 5000): SimAnswer {
    const answer: SimAnswer = { payload: undefined, failed: undefined };
    if (!this.core.hasListener(subject)) {
      answer.failed = "no-responders";
      return answer;
    }
    const replyTo = this.#host.inbox();
    const end = this.subscribe(replyTo, (message) => {
      answer.payload ??= message.payload;
      end();
    });
    this.after(timeoutMs, () => {
      if (answer.payload === undefined) {
        answer.failed = "timeout";
      }
      end();
    });
    this.core.publish("outside", { subject, payload, headers: {}, replyTo });
    return answer;
  }

  /**
   * Kills the server and starts it again: every connection breaks, streams in memory are empty
   * afterwards. `meanwhile` may change streams, as a restored or emptied store does.
   */
  restartServer(downMs = 50, meanwhile: () => void = () => undefined): void {
    for (const actor of this.#actors.values()) {
      actor.disconnect();
    }
    for (const stream of this.#streams.values()) {
      if (stream.settings.storage === "memory") {
        stream.wipe(stream.createdUnixNs);
      }
    }
    meanwhile();
    this.after(downMs, () => {
      for (const actor of this.#actors.values()) {
        actor.reconnect();
      }
    });
  }

  /** A copy of every stream, as a backup of the store. */
  backup(): ReadonlyMap<StreamName, StreamCopy> {
    return new Map(STREAMS.map((name) => [name, this.stream(name).copy()]));
  }

  /** Restarts the server with streams put back to a copy; those not in it stay. */
  restore(copies: ReadonlyMap<StreamName, StreamCopy>, downMs = 50): void {
    this.restartServer(downMs, () => {
      for (const [name, copy] of copies) {
        this.stream(name).restore(copy);
      }
    });
  }

  /** Restarts the server with streams emptied and created anew; all of them by default. */
  wipe(streams: readonly StreamName[] = STREAMS, downMs = 50): void {
    this.restartServer(downMs, () => {
      for (const name of streams) {
        this.stream(name).wipe(this.#nextCreated());
      }
    });
  }

  #hostOf(maxPayload: number): ActorHost {
    const bus = this;
    const host = {
      seed: this.seed,
      names: this.names,
      schedule: this.#schedule,
      maxPayload,
      get faults() {
        return bus.#faults;
      },
      random: () => this.#random(),
      wallMs: () => this.wallMs,
      inbox: () => {
        this.#inboxes += 1;
        return `_INBOX.sim.${this.#inboxes}`;
      },
      stream: (logical: string) => {
        const stream = this.#streams.get(logical);
        if (stream === undefined) {
          throw new Error(`there is no stream "${logical}"`);
        }
        return stream;
      },
      stored: (stream: SimStream, sequence: number, ttlMs: number | undefined) => {
        if (ttlMs !== undefined) {
          const record = stream.at(sequence);
          this.after(ttlMs, () => {
            if (stream.at(sequence) === record) {
              stream.expire(sequence);
            }
          });
        }
        const record = stream.at(sequence);
        if (record !== undefined) {
          this.#wasStored(stream, record);
        }
      },
      stepped: (actor: SimActor, kind: Message["kind"]) => this.#stepped(actor, kind),
    };
    return Object.assign(host, { core: new SimCore(host) });
  }

  #stepped(actor: SimActor, kind: Message["kind"]): void {
    this.#steps += 1;
    for (const hook of this.#hooks) {
      hook(actor, kind);
    }
    const { crash, restartMs } = this.#faults;
    if (actor.mayCrash && crash > 0 && actor.running && this.#random() < crash) {
      actor.crash();
      this.after(this.#random() * restartMs, () => actor.start());
    }
  }

  #wasStored(stream: SimStream, record: StoredRecord): void {
    const name = this.#streamNames.get(stream);
    if (name !== undefined) {
      for (const hook of this.#storedHooks) {
        hook(name, record);
      }
    }
    for (const actor of this.#actors.values()) {
      actor.wakeReaders(stream, record.subject);
    }
  }

  #nextCreated(): bigint {
    // One nanosecond apart at least, as creation times name a stream's life.
    this.#created += 1n;
    return BigInt(Math.floor(this.wallMs)) * 1_000_000n + this.#created;
  }
}
