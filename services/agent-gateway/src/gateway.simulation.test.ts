import { fromBinary } from "@bufbuild/protobuf";
import type { Effect, Message, Reducer } from "@ringwall/actor";
import { createAgentActor, type InstantHost, type PolicyRecord } from "@ringwall/agent";
import { bodyDigest } from "@ringwall/rendered";
import { type Faults, SimBus } from "@ringwall/testkit";
import { AckStatus, type BodyDigest, DownSchema, UpSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { createGateway } from "./gateway.ts";
import {
  advance,
  body,
  commit,
  type Entry,
  epoch,
  inputsAt,
  registered,
  stored,
} from "./testing/records.ts";
import { toHex } from "./wire/hex.ts";

const WORKLOADS = ["a", "b", "c", "d", "e", "f"];
const BODIES = Array.from({ length: 7 }, (_unused, index) =>
  body(...Array.from({ length: index }, (_none, peer) => `10.0.${index}.${peer}/32`)),
);
const BUSY_MS = 60_000;
const QUIET_MS = 150_000;

/** Appends what the log is made of, one change after the other, until it is told to stop. */
class Writer implements Reducer {
  readonly heads = new Map<string, { version: number; index: number }>();
  stopped = false;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  step(message: Message): readonly Effect[] {
    if (message.kind === "start") {
      const begin = WORKLOADS.flatMap((workload) => [
        registered("rw", workload),
        epoch("rw", workload, 1n, { inputs: inputsAt(1) }),
      ]);
      const entries = [commit("rw", 1), ...BODIES.flatMap((each) => stored("rw", each)), ...begin];
      return [...entries.map(append), tick(500)];
    }
    if (message.kind !== "timer" || this.stopped) {
      return [];
    }
    const effects: Effect[] = [];
    for (const workload of WORKLOADS) {
      if (this.#random() < 0.4) {
        effects.push(append(this.#advance(workload)));
      }
    }
    return [...effects, tick(20 + this.#random() * 800)];
  }

  #advance(workload: string): Entry {
    const former = this.heads.get(workload);
    const offset = 1 + Math.floor(this.#random() * (BODIES.length - 1));
    const index = ((former?.index ?? 0) + offset) % BODIES.length;
    const next = { version: (former?.version ?? 0) + 1, index };
    this.heads.set(workload, next);
    const from =
      former === undefined
        ? undefined
        : { version: former.version, policy: BODIES[former.index] ?? body() };
    return advance("rw", workload, from, {
      version: next.version,
      policy: BODIES[index] ?? body(),
    });
  }
}

/** A host that refuses some bodies and keeps what it was given over restarts. */
class Host implements InstantHost {
  readonly refuses: ReadonlySet<string>;
  record: PolicyRecord | undefined;
  refused: readonly BodyDigest[] = [];
  readonly faults: string[] = [];
  readonly #expected: (record: PolicyRecord) => string;

  constructor(refuses: ReadonlySet<string>, expected: (record: PolicyRecord) => string) {
    this.refuses = refuses;
    this.#expected = expected;
  }

  boot() {
    return {
      record: this.record,
      installed: this.record !== undefined,
      refused: this.refused,
      faults: [],
    };
  }

  apply({ record }: { readonly record: PolicyRecord }) {
    const former = this.record;
    if (former !== undefined && record.policy.version < former.policy.version) {
      this.faults.push(`went back from ${former.policy.version} to ${record.policy.version}`);
    }
    const wrong = this.#expected(record);
    if (wrong !== "") {
      this.faults.push(wrong);
    }
    if (this.refuses.has(record.digest)) {
      return { kind: "refused", detail: "this host does not take it" } as const;
    }
    this.record = record;
    return { kind: "applied" } as const;
  }

  saveRefused(refused: readonly BodyDigest[]): void {
    this.refused = refused;
  }

  drift(): number {
    return 0;
  }
}

/** Time in which a refusal has reached its gateway, or is lost. */
const KNOWN_MS = 5000;

/** Counts how often a refused body is sent after its first refusal was known. */
class RefusalCheck {
  readonly violations: string[] = [];
  readonly #refused = new Map<string, { readonly sinceMs: number; readonly sent: string[] }>();
  readonly #seen = new Set<string>();

  constructor(bus: SimBus) {
    bus.subscribe("rw.agent.*.up.*", ({ subject, payload }) => {
      const said = fromBinary(UpSchema, payload).body;
      if (said.case === "ack" && said.value.status === AckStatus.REFUSED) {
        const key = `${subject.split(".")[2]} ${toHex(said.value.digest)}`;
        const first = this.#refused.get(key) ?? { sinceMs: bus.nowMs, sent: [] };
        this.#refused.set(key, first);
      }
    });
    bus.subscribe("rw.agent.*.down", ({ payload }) => {
      const { workloadId, session, seq, digest, body: sent } = fromBinary(DownSchema, payload);
      const refused = this.#refused.get(`${workloadId} ${toHex(digest)}`);
      const message = `${workloadId} ${session} ${seq}`;
      const late = refused !== undefined && bus.nowMs - refused.sinceMs > KNOWN_MS;
      const push = sent.case === "snapshot" || sent.case === "delta";
      if (late && push && !this.#seen.has(message)) {
        this.#seen.add(message);
        refused.sent.push(sent.case);
        if (refused.sent.length > 1 || sent.case === "delta") {
          this.violations.push(`${workloadId} got a refused body: ${refused.sent.join(", ")}`);
        }
      }
    });
  }
}

function append({ stream, subject, payload, headers }: Entry): Effect {
  return {
    kind: "append",
    tag: "written",
    stream,
    subject,
    payload,
    ...(headers === undefined ? {} : { headers }),
  };
}

function tick(delayMs: number): Effect {
  return { kind: "timer", id: "tick", delayMs };
}

function run(seed: number, faults: Partial<Faults>, agentsCrash: boolean): string[] {
  const bus = new SimBus({ seed });
  const writer = new Writer(() => bus.random());
  bus.spawn("writer", { create: () => writer });
  for (const name of ["gw1", "gw2"]) {
    bus.spawn(name, {
      mayCrash: true,
      create: (life) =>
        createGateway({
          names: bus.names,
          instance: `${name}-${life}`,
          environment: "prod",
          options: { heartbeatMs: "10000" },
        }),
    });
  }
  const expected = ({ workload, policy, digest }: PolicyRecord): string => {
    const head = writer.heads.get(workload);
    const known = head !== undefined && policy.version <= BigInt(head.version);
    const same = digest === bodyDigest(policy);
    return known && same ? "" : `${workload} got version ${policy.version} that the log has not`;
  };
  const hosts = new Map(
    WORKLOADS.map((workload, index) => {
      const refuses = index % 2 === 0 ? [BODIES[index % BODIES.length]] : [];
      const digests = refuses.map((each) => bodyDigest(each));
      return [workload, new Host(new Set(digests), expected)];
    }),
  );
  for (const [workload, host] of hosts) {
    bus.spawn(`agent-${workload}`, {
      mayCrash: agentsCrash,
      create: () =>
        createAgentActor(
          {
            workload,
            subjects: {
              hello: bus.names.agentHello(workload),
              down: bus.names.agentDown(workload),
              up: (gateway) => bus.names.agentUp(workload, gateway),
            },
            agentVersion: "sim",
            facts: {},
          },
          host,
        ),
    });
  }
  const check = new RefusalCheck(bus);
  bus.run(2000);
  bus.setFaults(faults);
  bus.run(BUSY_MS);
  writer.stopped = true;
  bus.setFaults({});
  bus.run(QUIET_MS);
  const problems = [...check.violations];
  for (const [workload, host] of hosts) {
    problems.push(...host.faults.map((fault) => `${workload}: ${fault}`));
    const head = writer.heads.get(workload);
    const digest = bodyDigest(BODIES[head?.index ?? 0]);
    const there = host.record?.policy.version === BigInt(head?.version ?? 0);
    if (!there && !host.refuses.has(digest)) {
      problems.push(`${workload} is at ${host.record?.policy.version}, head is ${head?.version}`);
    }
  }
  return problems.map((problem) => `${problem} (seed ${seed})`);
}

const MESSAGES: Partial<Faults> = {
  lose: 0.03,
  duplicate: 0.03,
  reorder: 0.03,
  delay: 0.05,
  delayMs: 3000,
  staleRead: 0.02,
};

const SEEDS = Array.from({ length: 6 }, (_unused, index) => index + 1);

describe("gateways and agents under faults", () => {
  it.each([
    ["nothing goes wrong", {}, false],
    ["messages are lost, doubled, late and out of order", MESSAGES, false],
    ["gateways and agents crash", { crash: 0.002, restartMs: 4000 }, true],
    ["everything at once", { ...MESSAGES, crash: 0.001, restartMs: 4000 }, true],
  ])("when %s every agent reaches its head, and no rule is broken", (_name, faults, crash) => {
    for (const seed of SEEDS) {
      expect(run(seed, faults, crash)).toEqual([]);
    }
  });
});
