import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Effect, Message, Moment, Reducer } from "@ringwall/actor";
import {
  type AgentEffect,
  type AgentMessage,
  type AgentSession,
  type ApplyOrder,
  type ApplyOutcome,
  createAgentSession,
} from "@ringwall/agent";
import type { Names } from "@ringwall/bus";
import { type Down, DownSchema, type InventoryReport } from "@ringwall/wire";
import type { Host } from "./host.ts";

const HOST_TIMER = "host";
const HOST_STEP_MS = 0.2;

/** What an agent in the simulation is made of. */
export interface AgentParts {
  readonly names: Names;
  readonly host: Host;
  /** What its host serves now. */
  readonly inventory: () => InventoryReport;
  /** Changes a push on its way; undefined leaves it as it is. */
  readonly tampered: (payload: Uint8Array) => Uint8Array | undefined;
}

type Stage = "prepare" | "install" | "commit";

/**
 * An agent's process: its session, and on its host what the driver of the real one does, each part in a
 * step of its own, so that a crash may come between any two.
 */
export class AgentActor implements Reducer {
  readonly #parts: AgentParts;
  #session: AgentSession | undefined;
  #job: { readonly order: ApplyOrder; stage: Stage } | undefined;
  #out: Effect[] = [];

  constructor(parts: AgentParts) {
    this.#parts = parts;
  }

  /** The session, once the process has booted. */
  get session(): AgentSession | undefined {
    return this.#session;
  }

  step(message: Message, moment: Moment): readonly Effect[] {
    this.#out = [];
    switch (message.kind) {
      case "start":
        this.#boot(moment);
        break;
      case "reconnected":
      case "stop":
        this.#tell(message, moment);
        break;
      case "timer":
        if (message.id === HOST_TIMER) {
          this.#work(moment);
        } else {
          this.#tell(message, moment);
        }
        break;
      case "delivery": {
        const payload = this.#parts.tampered(message.payload) ?? message.payload;
        this.#tell({ ...message, payload }, moment);
        break;
      }
      case "again":
        this.#tell({ kind: "inventory", report: this.#parts.inventory() }, moment);
        break;
      default:
        break;
    }
    return this.#out;
  }

  #boot(moment: Moment): void {
    const { names, host } = this.#parts;
    const { workload } = host;
    const subjects = {
      hello: names.agentHello(workload),
      down: names.agentDown(workload),
      up: (gateway: string) => names.agentUp(workload, gateway),
    };
    this.#session = createAgentSession(
      { workload, subjects, agentVersion: "sim", facts: {} },
      host.boot(),
    );
    this.#tell({ kind: "inventory", report: this.#parts.inventory() }, moment);
    this.#out.push({ kind: "listen", listener: "down", subject: subjects.down });
    this.#tell({ kind: "start" }, moment);
  }

  #tell(message: AgentMessage, moment: Moment): void {
    for (const effect of this.#session?.step(message, moment) ?? []) {
      this.#perform(effect, moment);
    }
  }

  #perform(effect: AgentEffect, moment: Moment): void {
    const { host } = this.#parts;
    switch (effect.kind) {
      case "apply":
        this.#job = { order: effect, stage: "prepare" };
        this.#later();
        break;
      case "save-refused":
        host.saveRefused(effect.refused);
        break;
      case "check-drift":
        this.#tell({ kind: "drift", repaired: 0, detail: "" }, moment);
        break;
      case "read-counters":
        this.#tell({ kind: "counters", reading: undefined }, moment);
        break;
      default:
        this.#out.push(effect);
    }
  }

  #later(): void {
    const delayMs = HOST_STEP_MS + this.#parts.host.applyMs;
    this.#out.push({ kind: "timer", id: HOST_TIMER, delayMs });
  }

  #work(moment: Moment): void {
    const job = this.#job;
    if (job === undefined) {
      return;
    }
    const outcome = this.#advance(job);
    if (outcome === undefined) {
      this.#later();
    } else {
      this.#job = undefined;
      this.#tell({ kind: "applied", outcome }, moment);
    }
  }

  #advance(job: { readonly order: ApplyOrder; stage: Stage }): ApplyOutcome | undefined {
    const { host } = this.#parts;
    const { record, installed } = job.order;
    switch (job.stage) {
      case "prepare":
        job.stage = installed ? "commit" : "install";
        return host.prepare(record);
      case "install":
        job.stage = "commit";
        return host.install(record);
      case "commit":
        return host.commit(installed);
    }
  }
}

/** A push with one more peer in its first rule, as a damaged message; undefined if it holds none. */
export function garbled(payload: Uint8Array): Uint8Array | undefined {
  const down = fromBinary(DownSchema, payload);
  const { body } = down;
  if (body.case === "snapshot") {
    const rule = body.value.inboundRules[0];
    if (rule === undefined) {
      return undefined;
    }
    rule.peerCidrs.push("198.51.100.1/32");
    return toBinary(DownSchema, down);
  }
  const change = body.case === "delta" ? body.value.changes[0]?.change : undefined;
  if (change?.case === "addPeers" || change?.case === "removePeers") {
    change.value.peerCidrs.push("198.51.100.1/32");
    return toBinary(DownSchema, down);
  }
  if (change?.case === "upsertRule") {
    change.value.peerCidrs.push("198.51.100.1/32");
    return toBinary(DownSchema, down);
  }
  return undefined;
}

/**
 * What was on its way to another agent, with the session and sequence that this one expects, as two
 * sessions that were opened in the same millisecond have; undefined if that is no push.
 */
export function misdelivered(
  payload: Uint8Array,
  foreign: Uint8Array | undefined,
): Uint8Array | undefined {
  const mine = fromBinary(DownSchema, payload);
  const other = foreign === undefined ? undefined : fromBinary(DownSchema, foreign);
  if (!isPush(mine) || other === undefined || !isPush(other)) {
    return undefined;
  }
  const { session, seq } = mine;
  return toBinary(DownSchema, { ...other, session, seq });
}

function isPush({ body }: Down): boolean {
  return body.case === "snapshot" || body.case === "delta";
}
