import type { Clock, Moment, SpanEffect } from "@ringwall/actor";
import type { InventoryReport } from "@ringwall/wire";
import { applyPolicy } from "../apply.ts";
import type { EnforcementBackend } from "../backend/backend.ts";
import { type BootState, boot } from "../boot.ts";
import { AgentError } from "../errors.ts";
import {
  type AgentEffect,
  type AgentEnv,
  type AgentMessage,
  DRIFT_MS,
  TIMERS,
} from "../session/contract.ts";
import type { SessionStatus } from "../session/phase.ts";
import { AgentSession } from "../session/session.ts";
import type { PolicyStore } from "../store/policy-store.ts";
import type { AgentTransport } from "./transport.ts";
import { Turnstile } from "./turnstile.ts";

/** Told of what happens; levels and fields as in a structured log. */
export type AgentLog = (
  level: "debug" | "info" | "warn" | "error",
  message: string,
  fields: Readonly<Record<string, string | number | boolean>>,
) => void;

/** What one agent is made of. */
export interface AgentParts {
  readonly env: AgentEnv;
  readonly store: PolicyStore;
  readonly backend: EnforcementBackend;
  readonly clock: Clock;
  readonly log: AgentLog;
  readonly count: (name: string, by: number, labels: Readonly<Record<string, string>>) => void;
  /** Takes finished spans; absent: they go nowhere. */
  readonly span?: (span: SpanEffect) => void;
  /** Shared by the agents of one process, so that they do not all work at once. */
  readonly turnstile: Turnstile;
}

/** Runs one agent: its session on the bus, its policy on the host and on disk. */
export class AgentDriver {
  readonly #parts: AgentParts;
  readonly #session: AgentSession;
  readonly #timers = new Map<string, () => void>();
  /** One at a time: a backend has one caller. */
  readonly #host = new Turnstile(1);
  readonly #effects: AgentEffect[] = [];
  #performing = false;
  #transport: AgentTransport | undefined;
  #unsubscribe: (() => void) | undefined;
  #unwatch: (() => void) | undefined;
  #stopped = false;

  private constructor(parts: AgentParts, state: BootState) {
    this.#parts = parts;
    this.#session = new AgentSession(parts.env, state);
  }

  /**
   * Puts the stored policy in force and returns the agent, not yet dialling. Rejects with
   * `store-unwritable` if no policy is stored and none could be.
   */
  static async boot(parts: AgentParts): Promise<AgentDriver> {
    const state = await parts.turnstile.run(() => boot(parts.store, parts.backend));
    for (const fault of state.faults) {
      parts.log("error", "fault at boot", { workload: parts.env.workload, fault });
    }
    const driver = new AgentDriver(parts, state);
    driver.#guard();
    return driver;
  }

  /** The agent as people see it. */
  get status(): SessionStatus {
    return this.#session.status;
  }

  /** The backend that enforces. */
  get backend(): EnforcementBackend {
    return this.#parts.backend;
  }

  /** The bus that it talks over; undefined before `start`. */
  get transport(): AgentTransport | undefined {
    return this.#transport;
  }

  /** Begins to dial; call it once. */
  start(transport: AgentTransport): void {
    const { env } = this.#parts;
    this.#transport = transport;
    this.#unsubscribe = transport.subscribe(env.subjects.down, (payload, trace) => {
      this.#step({
        kind: "delivery",
        listener: "down",
        subject: env.subjects.down,
        payload,
        headers: {},
        ...(trace === undefined ? {} : { trace }),
      });
    });
    this.#step({ kind: "start" });
  }

  /** The bus is reachable again. */
  reconnected(): void {
    this.#step({ kind: "reconnected" });
  }

  /** What the host serves is now this. */
  report(inventory: InventoryReport): void {
    this.#step({ kind: "inventory", report: inventory });
  }

  /** Ends the session. The policy stays in force. */
  async stop(): Promise<void> {
    this.#step({ kind: "stop" });
    this.#stopped = true;
    this.#unsubscribe?.();
    this.#unwatch?.();
    for (const cancel of this.#timers.values()) {
      cancel();
    }
    this.#timers.clear();
    // What is being put in force is finished, so that host and disk agree.
    await this.#host.run(() => Promise.resolve());
  }

  /** What is in force is looked after from now on, however long the bus stays away. */
  #guard(): void {
    this.#setTimer(TIMERS.drift, DRIFT_MS);
    this.#unwatch = this.#parts.backend.watch?.(() => {
      this.#step({ kind: "timer", id: TIMERS.drift });
    });
  }

  #step(message: AgentMessage): void {
    if (this.#stopped) {
      return;
    }
    this.#effects.push(...this.#session.step(message, this.#moment()));
    if (!this.#performing) {
      void this.#performAll();
    }
  }

  /** In order; what has to be on disk before it is told of is waited for. */
  async #performAll(): Promise<void> {
    this.#performing = true;
    for (let effect = this.#effects.shift(); effect !== undefined; effect = this.#effects.shift()) {
      if (effect.kind === "save-refused") {
        const { refused } = effect;
        await this.#parts.store.saveRefused(refused).catch((thrown: unknown) => {
          this.#fault("refused bodies could not be stored", thrown);
        });
      } else {
        this.#perform(effect);
      }
    }
    this.#performing = false;
  }

  #perform(effect: Exclude<AgentEffect, { kind: "save-refused" }>): void {
    const { backend, store, turnstile } = this.#parts;
    switch (effect.kind) {
      case "publish":
        this.#publish(effect.subject, effect.payload, effect.trace);
        break;
      case "span":
        this.#parts.span?.(effect);
        break;
      case "timer":
        this.#setTimer(effect.id, effect.delayMs);
        break;
      case "cancel-timer":
        this.#cancelTimer(effect.id);
        break;
      case "log":
        this.#parts.log(effect.level, effect.message, effect.fields ?? {});
        break;
      case "count":
        this.#parts.count(effect.name, effect.by ?? 1, effect.labels ?? {});
        break;
      case "apply":
        void this.#host
          .run(() => turnstile.run(() => applyPolicy(backend, store, effect)))
          .then((outcome) => this.#step({ kind: "applied", outcome }));
        break;
      case "check-drift":
        this.#onHost(async () => {
          if (this.#session.inForce?.policy === effect.policy) {
            const { repaired, detail } = await backend.drift(effect.policy);
            this.#step({ kind: "drift", repaired, detail });
          }
        });
        break;
      case "read-counters":
        this.#onHost(async () => {
          this.#step({ kind: "counters", reading: await backend.counters() });
        });
        break;
      default:
        effect satisfies never;
    }
  }

  /** A message that can't be sent is as good as lost: the session finds out by itself. */
  #publish(subject: string, payload: Uint8Array, trace: string | undefined): void {
    try {
      this.#transport?.publish(subject, payload, trace);
    } catch (thrown) {
      this.#fault("a message could not be sent", thrown);
    }
  }

  #onHost(work: () => Promise<void>): void {
    this.#host.run(work).catch((thrown: unknown) => {
      this.#fault("host could not be asked", thrown);
    });
  }

  #fault(message: string, thrown: unknown): void {
    const { log, count, env } = this.#parts;
    count("agent_host_faults_total", 1, {});
    const fault = AgentError.from(thrown, "backend-unavailable").message;
    log("error", message, { workload: env.workload, fault });
  }

  #moment(): Moment {
    const { clock } = this.#parts;
    return {
      wallMs: clock.wallMs(),
      monotonicMs: clock.monotonicMs(),
      random: () => clock.random(),
    };
  }

  #setTimer(id: string, delayMs: number): void {
    this.#cancelTimer(id);
    const cancel = this.#parts.clock.after(delayMs, () => {
      this.#timers.delete(id);
      this.#step({ kind: "timer", id });
    });
    this.#timers.set(id, cancel);
  }

  #cancelTimer(id: string): void {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
  }
}
