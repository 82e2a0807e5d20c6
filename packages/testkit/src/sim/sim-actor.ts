import { Actor, type Clock, type LogEffect, type Message, type Reducer } from "@ringwall/actor";
import type { DriverHost } from "./append.ts";
import { SimDriver, type TelemetrySink } from "./driver.ts";
import { derivedSeed, seededRandom } from "./random.ts";
import type { SimStream } from "./stream.ts";

const STEP_MS = 0.05;
const LOG_LINES = 200;

/** Options of a simulated actor. */
export interface SimActorOptions<R extends Reducer = Reducer> {
  /** Makes the reducer of a life; lives count from 1. Instance ids should name the life. */
  create(life: number): R;
  /** Faults of likelihood `crash` may end a life of it. Default false. */
  readonly mayCrash?: boolean;
  /** Added to its wall clock. Default 0. */
  readonly clockSkewMs?: number;
  /** Subject filters that it may not publish to, store or listen on. Default none. */
  readonly denied?: readonly string[];
}

/** What a life of an actor needs of the world. */
export interface ActorHost extends DriverHost {
  readonly seed: number;
  /** Called after every step. */
  stepped(actor: SimActor, message: Message["kind"]): void;
}

/** An actor in the simulation: lives, one after the other, with the same name and reducer factory. */
export class SimActor<R extends Reducer = Reducer> {
  readonly name: string;
  readonly mayCrash: boolean;
  /** Added to the wall clock; may be changed at any time. */
  clockSkewMs: number;
  readonly #host: ActorHost;
  readonly #options: SimActorOptions<R>;
  readonly #gauges = new Map<string, number>();
  readonly #logs: LogEffect[] = [];
  #life = 0;
  #running: { readonly actor: Actor; readonly driver: SimDriver; readonly reducer: R } | undefined;
  #ready = { ready: false, reason: "starting" };
  #frozen = false;

  constructor(host: ActorHost, name: string, options: SimActorOptions<R>) {
    this.#host = host;
    this.name = name;
    this.mayCrash = options.mayCrash ?? false;
    this.clockSkewMs = options.clockSkewMs ?? 0;
    this.#options = options;
    this.start();
  }

  /** Which life it is in or was in last. */
  get life(): number {
    return this.#life;
  }

  get running(): boolean {
    return this.#running !== undefined;
  }

  /** The present life's reducer. */
  get reducer(): R | undefined {
    return this.#running?.reducer;
  }

  /** What the actor says of its readiness. */
  get readiness(): { readonly ready: boolean; readonly reason: string } {
    return this.#ready;
  }

  /** Messages that wait. */
  get depth(): number {
    return this.#running?.actor.depth ?? 0;
  }

  /** The last log lines, over all lives. */
  get logs(): readonly LogEffect[] {
    return this.#logs;
  }

  /** A counter's sum or a gauge's value, over all lives; labels in the order they were given. */
  metric(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.#gauges.get(metricKey(name, labels)) ?? 0;
  }

  /** Begins a new life; nothing happens if it lives. */
  start(): void {
    if (this.#running !== undefined) {
      return;
    }
    this.#life += 1;
    const reducer = this.#options.create(this.#life);
    const driver = new SimDriver(this.#host, this.name, this.#options.denied ?? [], this.#sink());
    const random = seededRandom(derivedSeed(this.#host.seed, `${this.name}#${this.#life}`));
    const clock: Clock = {
      wallMs: () => this.#host.wallMs() + this.clockSkewMs,
      monotonicMs: () => this.#host.schedule.nowMs,
      random,
      after: (delayMs, call) => this.#host.schedule.after(delayMs, call),
      soon: (call) => {
        this.#host.schedule.after(0, call);
      },
    };
    const actor: Actor = new Actor({
      reducer,
      driver,
      clock,
      wake: () => this.#wake(actor),
    });
    this.#running = { actor, driver, reducer };
    this.#ready = { ready: false, reason: "starting" };
    this.#frozen = false;
    actor.deliver({ kind: "start" });
  }

  /** Ends the life at once, as kill -9 would. */
  crash(): void {
    const running = this.#running;
    this.#running = undefined;
    running?.driver.kill();
    running?.actor.close();
  }

  /** Delivers `stop`; the life ends when everything is acknowledged, or after five seconds. */
  stop(): void {
    const running = this.#running;
    if (running === undefined) {
      return;
    }
    running.driver.quiesce();
    running.actor.deliver({ kind: "stop" });
    const untilMs = this.#host.schedule.nowMs + 5000;
    const look = () => {
      if (this.#running !== running) {
        return;
      }
      const { actor } = running;
      if ((actor.depth === 0 && actor.chains === 0) || this.#host.schedule.nowMs >= untilMs) {
        this.crash();
      } else {
        this.#host.schedule.after(5, look);
      }
    };
    this.#host.schedule.after(1, look);
  }

  /** Freezes it (SIGSTOP): messages wait, effects that were sent go on. */
  freeze(): void {
    this.#frozen = true;
  }

  /** Wakes it (SIGCONT). */
  thaw(): void {
    this.#frozen = false;
    const actor = this.#running?.actor;
    if (actor !== undefined && actor.depth > 0) {
      this.#wake(actor);
    }
  }

  /** Cuts its connection to the bus. */
  disconnect(): void {
    this.#running?.driver.disconnect();
  }

  /** Makes its connection again. */
  reconnect(): void {
    this.#running?.driver.reconnect();
  }

  /** Its readers of a stream that want a subject look for new records. */
  wakeReaders(stream: SimStream, subject: string): void {
    this.#running?.driver.wakeReaders(stream, subject);
  }

  /** Puts a message into its mailbox. */
  deliver(message: Message): void {
    this.#running?.actor.deliver(message);
  }

  #wake(actor: Actor): void {
    // Each step is an event of its own, so that steps of different actors mix.
    this.#host.schedule.after(STEP_MS * this.#host.random(), () => {
      if (this.#running?.actor !== actor || this.#frozen) {
        return;
      }
      const kind = actor.stepOnce();
      if (kind === undefined) {
        return;
      }
      if (actor.depth > 0) {
        this.#wake(actor);
      }
      this.#host.stepped(this, kind);
    });
  }

  #sink(): TelemetrySink {
    return (effect) => {
      switch (effect.kind) {
        case "ready":
          this.#ready = { ready: effect.ready, reason: effect.reason ?? "" };
          return;
        case "log":
          this.#logs.push(effect);
          if (this.#logs.length > LOG_LINES) {
            this.#logs.shift();
          }
          return;
        case "count": {
          const key = metricKey(effect.name, effect.labels ?? {});
          this.#gauges.set(key, (this.#gauges.get(key) ?? 0) + (effect.by ?? 1));
          return;
        }
        case "gauge":
          this.#gauges.set(metricKey(effect.name, effect.labels ?? {}), effect.value);
          return;
        case "observe":
        case "span":
          return;
        default:
          effect satisfies never;
      }
    };
  }
}

function metricKey(name: string, labels: Readonly<Record<string, string>>): string {
  return `${name} ${JSON.stringify(labels)}`;
}
