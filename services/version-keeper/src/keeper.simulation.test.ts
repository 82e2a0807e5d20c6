import { createHash } from "node:crypto";
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { Reducer } from "@ringwall/actor";
import { type Faults, type SimActor, SimBus } from "@ringwall/testkit";
import {
  CommitRequestSchema,
  CommitResponseSchema,
  type Inputs,
  Layer,
  PutBlobRequestSchema,
  PutBlobResponseSchema,
} from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { createKeeper } from "./keeper.ts";
import { Feeder } from "./testing/feeder.ts";
import { serviceFile } from "./testing/rig.ts";
import { workloadsOf } from "./testing/stub-renderer.ts";
import { VersionChecker } from "./testing/version-checker.ts";

const OPTIONS = {
  checkpointRecords: "10",
  checkpointMs: "2000",
  checkpointLookMs: "100",
  heldCheckMs: "500",
  wantFullMs: "100",
  catchUpMs: "1000",
};

const FAULTS: Partial<Faults> = {
  lose: 0.02,
  duplicate: 0.02,
  reorder: 0.02,
  delay: 0.05,
  delayMs: 200,
  noResponders: 0.01,
  loseAppend: 0.003,
  loseAck: 0.003,
  staleRead: 0.01,
  crash: 0.0005,
  restartMs: 3_000,
};

const PARTITIONS = [1, 2, 3];

/** Keepers on a simulated bus with a first commit. */
class World {
  readonly bus: SimBus;
  readonly keepers: SimActor[];
  readonly feeders: readonly Feeder[];
  checker = new VersionChecker();
  #checked = 0;

  constructor(seed: number, keepers: number) {
    this.bus = new SimBus({ seed });
    const { names } = this.bus;
    this.keepers = Array.from({ length: keepers }, (_, index) =>
      this.bus.spawn(`keeper-${index}`, {
        create: (life) => this.keeper(`k${index}l${life}`),
        mayCrash: true,
      }),
    );
    const inputs = this.commit();
    this.bus.spawn("registry", { create: () => registry(names.registryWorkload(0, "x")) });
    this.feeders = PARTITIONS.map((partition) => {
      const feeder = new Feeder(names, inputs, partition, workloadsOf(partition, 4));
      this.bus.spawn(`feeder-${partition}`, { create: () => feeder });
      return feeder;
    });
    this.bus.onStep(() => this.#check());
  }

  keeper(instance: string): Reducer {
    const { names } = this.bus;
    return createKeeper({ names, instance, environment: "prod", options: OPTIONS });
  }

  #check(): void {
    const stream = this.bus.stream("VERSIONS");
    for (; this.#checked < stream.lastSequence; this.#checked += 1) {
      const record = stream.at(this.#checked + 1);
      if (record !== undefined) {
        this.checker.take(record);
      }
    }
  }

  /** Goes on with an empty log. */
  wipeVersions(): void {
    this.bus.wipe(["VERSIONS"]);
    this.checker = new VersionChecker();
    this.#checked = 0;
  }

  commit(): Inputs {
    const { path, text = "" } = serviceFile("web", 443);
    const data = new TextEncoder().encode(text);
    const sha256 = new Uint8Array(createHash("sha256").update(data).digest());
    const blob = { sha256, index: 0, count: 1, data };
    this.call("blob", PutBlobRequestSchema, PutBlobResponseSchema, blob);
    const puts = [{ layer: Layer.CORE, path, sha256, size: BigInt(data.length) }];
    const request = { author: "sim", environment: "prod", puts };
    const { result } = this.call("commit", CommitRequestSchema, CommitResponseSchema, request);
    if (result.case !== "accepted" || result.value.inputs === undefined) {
      throw new Error(`the first commit was answered with ${result.case}`);
    }
    return result.value.inputs;
  }

  call<Request extends DescMessage, Response extends DescMessage>(
    verb: string,
    request: Request,
    response: Response,
    init: MessageInitShape<Request>,
  ): MessageShape<Response> {
    const subject = this.bus.names.api("config", verb);
    this.bus.runUntil("a listener", () => this.bus.core.hasListener(subject));
    const answer = this.bus.request(subject, toBinary(request, create(request, init)));
    this.bus.runUntil(
      "an answer",
      () => answer.payload !== undefined || answer.failed !== undefined,
    );
    if (answer.payload === undefined) {
      throw new Error(`${verb}: ${answer.failed}`);
    }
    return fromBinary(response, answer.payload);
  }

  /** Ends faults and changes and waits until the log says what the feeder says. */
  settle(): void {
    this.bus.setFaults({});
    for (const keeper of this.keepers) {
      keeper.thaw();
      keeper.start();
    }
    for (const feeder of this.feeders) {
      feeder.changes = false;
    }
    this.bus.runUntil("the log to agree", () => this.agrees(), 120_000);
  }

  agrees(): boolean {
    for (const { partition, bodies } of this.feeders) {
      const heads = this.checker.logs.get(this.bus.names.version(partition))?.heads ?? new Map();
      const alive = [...heads].filter(([, { digest }]) => digest !== "");
      if (alive.length !== bodies.size) {
        return false;
      }
      for (const [workload, { digest }] of alive) {
        if (bodies.get(workload) !== digest) {
          return false;
        }
      }
    }
    return true;
  }
}

/** A reducer that hears nothing of one of its readers. */
function deafTo(reader: string, reducer: Reducer): Reducer {
  return {
    step: (message, moment) =>
      "reader" in message && message.reader === reader ? [] : reducer.step(message, moment),
  };
}

/** Keeps REGISTRY ahead of the feeder's revisions. */
function registry(subject: string) {
  let count = 0;
  const write = () => {
    count += 1;
    return {
      kind: "append" as const,
      tag: "write",
      stream: "REGISTRY",
      subject,
      payload: new Uint8Array(1),
    };
  };
  return {
    step: (message: { kind: string }) =>
      (message.kind === "start" || message.kind === "appended") && count < 3_000 ? [write()] : [],
  };
}

/** Seeds of a test: the usual ones, `RINGWALL_SEEDS` of them, or the one of `RINGWALL_SEED`. */
function seedsOf(usual: number): number[] {
  const { RINGWALL_SEED: only, RINGWALL_SEEDS: many } = process.env;
  const count = Number(many ?? usual);
  return only === undefined
    ? Array.from({ length: count }, (_, index) => index + 1)
    : [Number(only)];
}

describe("the version-keeper in simulation", { timeout: 120_000 }, () => {
  it.each(seedsOf(4))(
    "keeps every log right over lost, late and doubled messages and crashes, seed %i",
    (seed) => {
      const world = new World(seed, 3);
      world.bus.runUntil("the first versions", () => world.agrees());
      world.bus.setFaults(FAULTS);
      world.bus.run(12_000);
      world.settle();
      expect(world.bus.stream("VERSIONS").lastSequence).toBeGreaterThan(90);
    },
  );

  it.each(seedsOf(2))(
    "takes a frozen keeper's partitions over and shrugs when it wakes, seed %i",
    (seed) => {
      const world = new World(seed, 2);
      world.bus.runUntil("the first versions", () => world.agrees());
      const [first] = world.keepers;
      first?.freeze();
      world.bus.run(9_000);
      first?.thaw();
      world.bus.run(2_000);
      world.settle();
    },
  );

  it.each(seedsOf(2))("begins an epoch with all heads when VERSIONS is wiped, seed %i", (seed) => {
    const world = new World(seed, 2);
    world.bus.run(5_000);
    const before = new Map(
      [...world.checker.logs].map(([subject, log]) => [subject, new Map(log.heads)]),
    );
    world.wipeVersions();
    world.bus.run(5_000);
    world.settle();
    for (const [subject, heads] of before) {
      for (const [workload, { version }] of heads) {
        const after = world.checker.logs.get(subject)?.heads.get(workload)?.version ?? 0;
        expect(after, `${subject} ${workload}`).toBeGreaterThanOrEqual(version);
      }
    }
  });

  it("is held until it has read when partitions of REGISTRY were taken over", () => {
    const world = new World(1, 1);
    world.bus.runUntil("the first versions", () => world.agrees());
    const create = () => deafTo("held.owners", world.keeper("deaf"));
    const deaf = world.bus.spawn("deaf", { create });
    world.bus.run(5_000);
    expect(world.keepers.map(({ readiness }) => readiness.ready)).toEqual([true]);
    expect(deaf.readiness.ready).toBe(false);
    expect(deaf.readiness.reason).toContain("the logs are being read");
  });

  it("holds and writes nothing when CONFIG is wiped", () => {
    const world = new World(1, 2);
    world.bus.run(3_000);
    world.bus.wipe(["CONFIG"]);
    world.bus.run(2_000);
    const last = world.bus.stream("VERSIONS").lastSequence;
    world.bus.run(5_000);
    expect(world.bus.stream("VERSIONS").lastSequence).toBe(last);
    for (const keeper of world.keepers) {
      expect(keeper.readiness.ready).toBe(false);
      expect(keeper.readiness.reason).toMatch(/names generation|does not have it/);
    }
  });
});
