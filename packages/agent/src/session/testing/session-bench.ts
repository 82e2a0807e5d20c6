import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Moment } from "@ringwall/actor";
import { bodyDigest, canonical, delta } from "@ringwall/rendered";
import {
  DownSchema,
  EnforcementMode,
  HelloAckSchema,
  Protocol,
  type Up,
  UpSchema,
  type WorkloadPolicy,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import type { BootState } from "../../boot.ts";
import { digestBytes } from "../../digest.ts";
import type { AgentEffect, AgentEnv, AgentMessage } from "../contract.ts";
import { AgentSession } from "../session.ts";

/** What every bench session is. */
export const ENV: AgentEnv = {
  workload: "web-1",
  subjects: {
    hello: "rw.agent.web-1.hello",
    down: "rw.agent.web-1.down",
    up: (gateway) => `rw.agent.web-1.up.${gateway}`,
  },
  agentVersion: "test",
  facts: {},
};
const FRESH: BootState = { record: undefined, installed: false, refused: [], faults: [] };
type DownInit = Parameters<typeof create<typeof DownSchema>>[1];

/** A policy with one rule that lets peers in. */
export function policy(version: bigint, ...peers: string[]) {
  return canonical(
    create(WorkloadPolicySchema, {
      version,
      mode: EnforcementMode.ENFORCED,
      inboundRules: [{ ruleId: "r/tcp", peerCidrs: peers, protocol: Protocol.TCP, ports: [] }],
    }),
  );
}

/** How an apply fails on a full disk: before or after the policy was installed. */
export function failure(mayBeInForce: boolean) {
  return { kind: "failed", detail: "disk full", mayBeInForce } as const;
}

/** A session on a clock of its own, with what it sent; plays its gateway. */
export class Bench {
  readonly session: AgentSession;
  readonly ups: Up[] = [];
  readonly effects: AgentEffect[] = [];
  seq = 0n;
  sessionId = 0n;
  monotonicMs = 1000;
  chance = 0.5;

  constructor(boot: BootState = FRESH) {
    this.session = new AgentSession(ENV, boot);
  }

  step(message: AgentMessage): readonly AgentEffect[] {
    const moment: Moment = {
      wallMs: 1_700_000_000_000 + this.monotonicMs,
      monotonicMs: this.monotonicMs,
      random: () => this.chance,
    };
    const effects = this.session.step(message, moment);
    this.effects.push(...effects);
    for (const effect of effects) {
      if (effect.kind === "publish") {
        this.ups.push(fromBinary(UpSchema, effect.payload));
      }
    }
    return effects;
  }

  down(init: DownInit): readonly AgentEffect[] {
    const message = create(DownSchema, { workloadId: "web-1", session: this.sessionId, ...init });
    return this.step({
      kind: "delivery",
      listener: "down",
      subject: ENV.subjects.down,
      payload: toBinary(DownSchema, message),
      headers: {},
    });
  }

  hello() {
    const up = this.ups.findLast((sent) => sent.body.case === "hello");
    if (up?.body.case !== "hello") {
      throw new Error("no Hello was sent");
    }
    return up.body.value;
  }

  ack() {
    const up = this.ups.findLast((sent) => sent.body.case === "ack");
    if (up?.body.case !== "ack") {
      throw new Error("no ack was sent");
    }
    return up.body.value;
  }

  open(session = 100n): void {
    this.sessionId = session;
    this.seq = 1n;
    const { nonce } = this.hello();
    const value = create(HelloAckSchema, { nonce, gateway: "gw", heartbeatIntervalMs: 10_000 });
    this.down({ session, seq: 1n, body: { case: "helloAck", value } });
  }

  snapshot(pushed: WorkloadPolicy, epoch = 1n): readonly AgentEffect[] {
    return this.down({ ...this.head(pushed, epoch), body: { case: "snapshot", value: pushed } });
  }

  delta(from: WorkloadPolicy, to: WorkloadPolicy, epoch = 1n): readonly AgentEffect[] {
    return this.down({ ...this.head(to, epoch), body: { case: "delta", value: delta(from, to) } });
  }

  head(pushed: WorkloadPolicy, epoch: bigint) {
    this.seq += 1n;
    const digest = digestBytes(bodyDigest(pushed));
    return { seq: this.seq, epoch, headVersion: pushed.version, digest };
  }

  applied(): readonly AgentEffect[] {
    return this.step({ kind: "applied", outcome: { kind: "applied" } });
  }
}

/** One that says Hello. */
export function started(boot?: BootState): Bench {
  const bench = new Bench(boot);
  bench.step({ kind: "start" });
  return bench;
}

/** One with an open session. */
export function opened(boot?: BootState): Bench {
  const bench = started(boot);
  bench.open();
  return bench;
}

/** One with an open session and a policy in force. */
export function holding(version: bigint, ...peers: string[]): Bench {
  const bench = opened();
  bench.snapshot(policy(version, ...peers));
  bench.applied();
  return bench;
}
