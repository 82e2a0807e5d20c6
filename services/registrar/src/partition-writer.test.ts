import { create, fromBinary } from "@bufbuild/protobuf";
import type { AppendEffect, Effect, FailureCode } from "@ringwall/actor";
import { names, partitionOf } from "@ringwall/bus";
import {
  PartitionOwnerSchema,
  Presence,
  PresenceMarkSchema,
  ReportWorkloadRequestSchema,
  WorkloadRecordSchema,
  WorkloadSource,
} from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Settlement } from "./job.ts";
import { JOBS_MAX } from "./job-queue.ts";
import type { Operation } from "./operation.ts";
import { Outbox } from "./outbox.ts";
import { PartitionWriter } from "./partition-writer.ts";
import { Registry } from "./registry.ts";
import { Scopes } from "./scopes.ts";
import { MemoryStream } from "./testing/memory-stream.ts";

const NAMES = names("t");
/** Ids of one partition. */
const IDS = Array.from({ length: 5_000 }, (_, each) => `w-${each}`).filter(
  (id) => partitionOf(id) === 7,
);
const [A = "", B = "", C = ""] = IDS;

/** One instance's writer of partition 7 on a shared stream. */
class Instance {
  readonly stream: MemoryStream;
  readonly registry = new Registry(NAMES);
  readonly out = new Outbox();
  readonly writer: PartitionWriter;
  readonly settled: Settlement[] = [];
  readonly pending: Effect[] = [];
  serving = false;
  #read = 0;
  #writes = 0;

  constructor(stream: MemoryStream, name: string) {
    this.stream = stream;
    this.writer = new PartitionWriter(
      {
        names: NAMES,
        instance: name,
        registry: this.registry,
        scopes: new Scopes(),
        out: this.out,
        moment: () => ({ wallMs: 5_000, monotonicMs: 0, random: () => 0.5 }),
        writeId: () => {
          this.#writes += 1;
          return `${name}:${this.#writes}`;
        },
        serving: (_, serving) => {
          this.serving = serving;
        },
        vanished: (id) => {
          this.registry.drop(id);
        },
      },
      7,
    );
  }

  /** Folds what the stream holds that was not folded yet. */
  fold(): void {
    for (const record of this.stream.lastPerSubject(NAMES.registryAll)) {
      if (record.sequence > this.#read) {
        this.registry.apply(record);
        this.writer.folded(record);
      }
    }
    this.#read = this.stream.sequence;
  }

  submit(id: string, operation: Operation): void {
    this.writer.submit({ id, operation, settle: (each) => this.settled.push(each) });
  }

  report(id: string, app: string): void {
    const request = create(ReportWorkloadRequestSchema, {
      id,
      source: WorkloadSource.OPERATOR,
      labels: { app },
    });
    this.submit(id, { kind: "report", request });
  }

  /** The append that waits for its acknowledgement. */
  inFlight(): AppendEffect | undefined {
    this.#gather();
    return this.pending.find((each) => each.kind === "append");
  }

  /** Performs the oldest effect; false if there is none. */
  perform(fail?: FailureCode): boolean {
    this.#gather();
    const effect = this.pending.shift();
    if (effect?.kind === "append") {
      const stored = fail === undefined ? this.stream.append(effect) : undefined;
      if (stored === undefined) {
        this.writer.failed(effect.tag, fail ?? "fence-lost", "");
      } else {
        this.writer.appended(effect.tag, stored.sequence);
      }
    } else if (effect?.kind === "follow") {
      for (const record of this.stream.lastPerSubject(effect.filters[0] ?? "")) {
        this.writer.reloadRecord(effect.reader, record);
      }
      this.writer.reloadEnded(effect.reader, this.stream.sequence);
    } else if (effect?.kind === "again") {
      this.writer.pump();
    } else if (effect?.kind === "timer") {
      this.writer.retry();
    }
    return effect !== undefined;
  }

  settle(): void {
    while (this.perform()) {
      this.fold();
    }
  }

  owner() {
    const [record] = this.stream.lastPerSubject(NAMES.registryOwner(7));
    return fromBinary(PartitionOwnerSchema, record?.payload ?? new Uint8Array());
  }

  labels(): Record<string, string | undefined> {
    return Object.fromEntries(
      this.stream
        .lastPerSubject(NAMES.registryPartition(7))
        .filter((record) => record.payload.length > 0 && !record.subject.endsWith("OWNER"))
        .map((record) => fromBinary(WorkloadRecordSchema, record.payload))
        .map((record) => [record.id, record.labels.app]),
    );
  }

  #gather(): void {
    const effects = this.out.take().flatMap((each) => (each.kind === "fork" ? each.effects : each));
    this.pending.push(...effects.filter((each) => WAITED.has(each.kind)));
  }
}

const WAITED = new Set(["append", "follow", "again", "timer"]);

function instance(stream = new MemoryStream(), name = "one"): Instance {
  const made = new Instance(stream, name);
  made.fold();
  made.writer.gain();
  return made;
}

describe("the writer of a partition", () => {
  it("serves once its owner key is written", () => {
    const one = instance();
    expect(one.serving).toBe(false);
    expect(one.inFlight()?.expect).toEqual({ sequence: 0, filter: NAMES.registryPartition(7) });
    one.perform();
    expect(one.serving).toBe(true);
    expect(one.owner().instance).toBe("one");
  });

  it("keeps one append in flight and lets requests for one workload share one", () => {
    const one = instance();
    one.settle();
    one.report(A, "1");
    one.report(B, "1");
    one.report(B, "2");
    one.report(B, "2");
    one.report(C, "1");
    expect(one.inFlight()?.subject).toContain(A);
    expect(one.pending).toHaveLength(1);
    one.perform();
    one.perform();
    expect(one.settled).toMatchObject([
      { kind: "done", changed: true },
      { kind: "done", changed: true },
      { kind: "done", changed: true },
      { kind: "done", changed: false },
    ]);
    one.settle();
    expect(one.labels()).toEqual({ [A]: "1", [B]: "2", [C]: "1" });
  });

  it("judges a request by its own writes although the fold is behind", () => {
    const one = instance();
    one.perform();
    one.report(A, "1");
    one.perform();
    one.report(A, "1");
    expect(one.inFlight()).toBeUndefined();
    expect(one.settled.at(-1)).toMatchObject({ kind: "done", changed: false });
  });

  it("writes the owner key after each removal", () => {
    const one = instance();
    one.settle();
    one.report(A, "1");
    one.settle();
    one.submit(A, { kind: "deregister" });
    expect(one.inFlight()?.headers).toMatchObject({
      "KV-Operation": "PURGE",
      "Nats-TTL": "86400s",
    });
    one.perform();
    expect(one.inFlight()?.subject).toBe(NAMES.registryOwner(7));
    one.settle();
    one.stream.expire(NAMES.registryWorkload(7, A));
    one.report(B, "1");
    one.settle();
    expect(one.labels()).toEqual({ [B]: "1" });
  });

  it("remembers an enforced workload before it removes it, also for the next owner", () => {
    const one = instance();
    one.settle();
    one.report(A, "1");
    one.submit(A, { kind: "enforced", enforced: true });
    one.settle();
    one.submit(A, { kind: "deregister" });
    expect(one.inFlight()?.subject).toBe(NAMES.registryOwner(7));
    one.settle();
    expect(one.owner().enforcedRemoved).toEqual([A]);
    const two = instance(one.stream, "two");
    two.settle();
    two.report(A, "2");
    two.settle();
    expect(two.registry.get(A)?.record.enforced).toBe(true);
    two.submit(A, { kind: "enforced", enforced: false });
    two.submit(A, { kind: "deregister" });
    two.settle();
    expect(two.owner().enforcedRemoved).toEqual([]);
  });

  it("takes a partition over whose last marker has expired", () => {
    const one = instance();
    one.settle();
    one.report(A, "1");
    one.settle();
    one.submit(A, { kind: "deregister" });
    one.perform();
    const two = new Instance(one.stream, "two");
    two.fold();
    one.stream.expire(NAMES.registryWorkload(7, A));
    two.writer.gain();
    two.settle();
    expect(two.serving).toBe(true);
    two.report(B, "1");
    two.settle();
    expect(two.labels()).toEqual({ [B]: "1" });
  });

  it("drops workloads that vanished while it did not look", () => {
    const one = instance();
    one.settle();
    one.report(A, "1");
    one.settle();
    one.stream.expire(NAMES.registryWorkload(7, A));
    one.report(B, "1");
    one.settle();
    expect(one.registry.get(A)).toBeUndefined();
    expect(one.labels()).toEqual({ [B]: "1" });
  });

  it("refuses what it has and tries again when the bus can't store", () => {
    const one = instance();
    one.settle();
    one.report(A, "1");
    one.report(B, "1");
    one.perform("unavailable");
    expect(one.settled).toMatchObject([
      { kind: "refused", code: "unavailable" },
      { kind: "refused", code: "unavailable" },
    ]);
    one.report(C, "1");
    expect(one.settled.at(-1)).toMatchObject({ code: "unavailable" });
    one.settle();
    one.report(A, "2");
    one.settle();
    expect(one.labels()).toEqual({ [A]: "2" });
  });

  it("goes on behind a record that does not fit a message", () => {
    const one = instance();
    one.settle();
    one.report(A, "1");
    one.report(B, "1");
    one.perform("too-large");
    one.settle();
    expect(one.settled).toMatchObject([{ code: "too_large" }, { kind: "done" }]);
    expect(one.labels()).toEqual({ [B]: "1" });
  });

  it("refuses requests that wait when the partition moves, and those beyond its queue", () => {
    const one = instance();
    one.settle();
    for (let count = 0; count < JOBS_MAX + 2; count += 1) {
      one.report(A, "1");
    }
    expect(one.settled).toMatchObject([{ kind: "refused", code: "unavailable" }]);
    one.writer.lose();
    expect(one.serving).toBe(false);
    expect(one.settled).toHaveLength(JOBS_MAX + 2);
    one.report(A, "1");
    expect(one.settled.at(-1)).toMatchObject({ code: "unavailable" });
  });

  it("voids a presence that was judged by an older record", () => {
    const one = instance();
    one.settle();
    one.report(A, "1");
    one.settle();
    const revision = BigInt(one.registry.get(A)?.sequence ?? 0);
    const mark = create(PresenceMarkSchema, { workload: A, presence: Presence.STALE, revision });
    one.report(A, "2");
    one.settle();
    one.submit(A, { kind: "presence", mark });
    one.settle();
    expect(one.registry.get(A)?.record.presence).toBe(Presence.LIVE);
    const now = BigInt(one.registry.get(A)?.sequence ?? 0);
    one.submit(A, { kind: "presence", mark: { ...mark, revision: now } });
    one.settle();
    expect(one.registry.get(A)?.record.presence).toBe(Presence.STALE);
  });

  it("loses nothing that was acknowledged when two instances believe that they own it", () => {
    const action = fc.record({
      who: fc.constantFrom(0, 1),
      what: fc.constantFrom("report", "deregister", "perform", "fold", "regain"),
      id: fc.constantFrom(A, B, C),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
        const stream = new MemoryStream();
        const both = [instance(stream, "one"), instance(stream, "two")];
        const acknowledged = new Map<string, { revision: number; app: string | undefined }>();
        let count = 0;
        const keep = (id: string, app: string | undefined) => (settlement: Settlement) => {
          const before = acknowledged.get(id)?.revision ?? 0;
          if (settlement.kind === "done" && settlement.revision >= before) {
            acknowledged.set(id, { revision: settlement.revision, app });
          }
        };
        for (const { who, what, id } of actions) {
          const each = both[who];
          if (what === "report") {
            count += 1;
            const app = `v${count}`;
            const request = create(ReportWorkloadRequestSchema, {
              id,
              source: WorkloadSource.OPERATOR,
              labels: { app },
            });
            const operation = { kind: "report", request } as const;
            each?.writer.submit({ id, operation, settle: keep(id, app) });
          } else if (what === "deregister") {
            const operation = { kind: "deregister" } as const;
            each?.writer.submit({ id, operation, settle: keep(id, undefined) });
          } else if (what === "perform") {
            each?.perform();
          } else if (what === "fold") {
            each?.fold();
          } else {
            each?.writer.lose();
            each?.writer.gain();
          }
        }
        for (let round = 0; round < 50; round += 1) {
          both[0]?.settle();
          both[1]?.settle();
        }
        const final = both[0]?.labels() ?? {};
        for (const [id, { revision, app }] of acknowledged) {
          const stored = stream.lastPerSubject(NAMES.registryWorkload(7, id))[0]?.sequence ?? 0;
          if (stored === revision) {
            expect(final[id]).toBe(app);
          } else {
            expect(stored).toBeGreaterThan(revision);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
