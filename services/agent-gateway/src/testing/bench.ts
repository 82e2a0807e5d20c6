import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { Effect, Message, Moment } from "@ringwall/actor";
import { type Names, names, type ServiceReducer } from "@ringwall/bus";
import { bodyDigest, withVersion } from "@ringwall/rendered";
import {
  AckStatus,
  type AgentState,
  type Down,
  DownSchema,
  type HelloSchema,
  ListStatusRequestSchema,
  ListStatusResponseSchema,
  UpSchema,
  type WorkloadPolicy,
  type WorkloadStatus,
} from "@ringwall/wire";
import { createGateway } from "../gateway.ts";
import { fromHex } from "../wire/hex.ts";
import { commit, type Entry, epoch, inputsAt, registered } from "./records.ts";

/** What a Down that a test looks at is. */
export type Case = NonNullable<Down["body"]["case"]>;

const READERS = {
  CONFIG: "config",
  REGISTRY: "registry",
  CONTENT: "content",
  VERSIONS: "versions",
};

/** Drives a gateway's reducer by hand: logs are fed, agents are played, effects are collected. */
export class Bench {
  readonly names: Names = names();
  readonly gateway: ServiceReducer;
  readonly instance: string;
  effects: Effect[] = [];
  monotonicMs = 10_000;
  wallMs = 1_800_000_000_000;
  readonly #sequences = new Map<string, number>();
  #again = 0;

  constructor(instance = "gw1") {
    this.instance = instance;
    this.gateway = createGateway({
      names: this.names,
      instance,
      environment: "prod",
      options: {},
    });
  }

  /** A gateway that has read its logs: one commit, the workload registered, epoch 1 begun. */
  static ready(workload = "web-1", instance = "gw1"): Bench {
    const bench = new Bench(instance);
    bench.step({ kind: "start" });
    bench.feed(commit("rw", 1));
    bench.feed(registered("rw", workload));
    bench.read();
    bench.feed(epoch("rw", workload, 1n, { inputs: inputsAt(1) }));
    bench.effects = [];
    return bench;
  }

  /** Everything has been read to its end. */
  read(versionsLast = 0): void {
    for (const reader of ["config", "registry", "registry-owners", "status"]) {
      this.step({ kind: "caught-up", reader, sequence: this.#sequences.get(reader) ?? 0 });
    }
    this.step({
      kind: "stream-info",
      tag: "loader:VERSIONS",
      createdUnixNs: 7n,
      firstSequence: 1,
      lastSequence: versionsLast,
    });
    this.step({ kind: "caught-up", reader: "checkpoints", sequence: 0 });
    this.step({ kind: "caught-up", reader: "versions", sequence: versionsLast });
  }

  step(message: Message): readonly Effect[] {
    const moment: Moment = {
      wallMs: this.wallMs,
      monotonicMs: this.monotonicMs,
      random: () => 0.5,
    };
    const effects = this.gateway.step(message, moment).flatMap(flatten);
    this.effects.push(...effects);
    this.#again += effects.filter((effect) => effect.kind === "again").length;
    while (this.#again > 0) {
      this.#again -= 1;
      this.step({ kind: "again", tag: "line" });
    }
    return effects;
  }

  /** A record of a log. */
  feed(entry: Entry): void {
    const reader = READERS[entry.stream];
    const sequence = (this.#sequences.get(reader) ?? 0) + 1;
    this.#sequences.set(reader, sequence);
    const { subject, payload } = entry;
    this.step({
      kind: "record",
      reader,
      record: {
        subject,
        sequence,
        payload,
        headers: entry.headers ?? {},
        timeUnixMs: this.wallMs,
      },
    });
  }

  /** Time passes, with a sweep every second. */
  wait(ms: number): void {
    for (let passed = 0; passed < ms; passed += 1000) {
      this.monotonicMs += 1000;
      this.wallMs += 1000;
      this.step({ kind: "timer", id: "sweep" });
    }
  }

  /** An agent's Hello; the HelloAck's session. */
  hello(workload = "web-1", init: MessageInitShape<typeof HelloSchema> = {}, session = 0n): bigint {
    const up = create(UpSchema, {
      session,
      body: { case: "hello", value: { nonce: 42n, schemaLevel: 1, ...init } },
    });
    this.#deliver("hello", this.names.agentHello(workload), toBinary(UpSchema, up));
    return this.last(workload, "helloAck").session;
  }

  /** An agent's acknowledgement of a Down. */
  ack(down: Down, status: AckStatus = AckStatus.APPLIED, detail = ""): void {
    const { epoch: at, headVersion: version, digest, seq } = down;
    this.up(down.workloadId, down.session, {
      case: "ack",
      value: { epoch: at, version, digest, seq, status, detail },
    });
  }

  /** An agent says something in its session. */
  up(
    workload: string,
    session: bigint,
    said: NonNullable<MessageInitShape<typeof UpSchema>["body"]>,
  ): void {
    const payload = toBinary(UpSchema, create(UpSchema, { session, body: said }));
    this.#deliver("up", this.names.agentUp(workload, this.instance), payload);
  }

  /** Every Down to a workload, oldest first. */
  downs(workload = "web-1"): Down[] {
    const subject = this.names.agentDown(workload);
    return this.effects.flatMap((effect) =>
      effect.kind === "publish" && effect.subject === subject
        ? [fromBinary(DownSchema, effect.payload)]
        : [],
    );
  }

  /** Pushes to a workload: snapshots, deltas, chunks. */
  pushes(workload = "web-1"): Down[] {
    return this.downs(workload).filter(({ body: { case: kind } }) =>
      ["snapshot", "delta", "chunk"].includes(kind ?? ""),
    );
  }

  /** The last Down of a kind. */
  last(workload: string, kind: Case): Down {
    const down = this.downs(workload).findLast((sent) => sent.body.case === kind);
    if (down === undefined) {
      throw new Error(`no ${kind} was sent to ${workload}`);
    }
    return down;
  }

  /** The last push to a workload. */
  push(workload = "web-1"): Down {
    const down = this.pushes(workload).at(-1);
    if (down === undefined) {
      throw new Error(`nothing was pushed to ${workload}`);
    }
    return down;
  }

  /** What the gateway says of a workload. */
  status(workload = "web-1"): WorkloadStatus {
    const payload = toBinary(
      ListStatusRequestSchema,
      create(ListStatusRequestSchema, { ids: [workload] }),
    );
    const effects = this.step({
      kind: "delivery",
      listener: "api.status.list",
      subject: "",
      payload,
      headers: {},
      replyTo: "reply",
    });
    for (const effect of effects) {
      if (effect.kind === "reply") {
        const [status] = fromBinary(ListStatusResponseSchema, effect.payload).workloads;
        if (status !== undefined) {
          return status;
        }
      }
    }
    throw new Error(`${workload} is not listed`);
  }

  /** The state of a workload's agent. */
  state(workload = "web-1"): AgentState {
    return this.status(workload).state;
  }

  /** Effects of a kind. */
  all<Kind extends Effect["kind"]>(kind: Kind): Extract<Effect, { kind: Kind }>[] {
    return this.effects.filter(
      (effect): effect is Extract<Effect, { kind: Kind }> => effect.kind === kind,
    );
  }

  #deliver(listener: string, subject: string, payload: Uint8Array): void {
    this.step({ kind: "delivery", listener, subject, payload, headers: {} });
  }
}

/** What an agent that has a version of a body claims in its Hello. */
export function claim(policy: WorkloadPolicy, version: number, at = 1n) {
  return {
    epoch: at,
    appliedVersion: BigInt(version),
    digest: fromHex(bodyDigest(policy)),
    inputs: inputsAt(1),
  };
}

export { AckStatus, withVersion };

function flatten(effect: Effect): readonly Effect[] {
  return effect.kind === "fork" ? effect.effects.flatMap(flatten) : [effect];
}
