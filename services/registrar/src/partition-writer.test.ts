import { create } from "@bufbuild/protobuf";
import { partitionOf } from "@ringwall/bus";
import {
  Presence,
  PresenceMarkSchema,
  ReportWorkloadRequestSchema,
  WorkloadSource,
} from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Settlement } from "./job.ts";
import { JOBS_MAX } from "./job-queue.ts";
import { MemoryStream } from "./testing/memory-stream.ts";
import { instance, NAMES, WriterInstance } from "./testing/writer-instance.ts";

/** Ids of one partition. */
const IDS = Array.from({ length: 5_000 }, (_, each) => `w-${each}`).filter(
  (id) => partitionOf(id) === 7,
);
const [A = "", B = "", C = ""] = IDS;

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
    // What was answered for "1" is stored before "2" is.
    expect(one.labels()).toEqual({ [A]: "1", [B]: "1" });
    expect(one.settled).toHaveLength(2);
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

  it("remembers where and when the partition was taken over, in this log alone", () => {
    const one = instance();
    one.settle();
    const restore = one.stream.backUp();
    instance(one.stream, "two").settle();
    expect(one.places()).toEqual([1]);
    restore();
    const three = instance(one.stream, "three");
    three.settle();
    three.report(A, "1");
    three.settle();
    three.submit(A, { kind: "deregister" });
    three.settle();
    expect(three.places()).toEqual([1, 2]);
    instance(one.stream, "four").settle();
    expect(one.places()).toEqual([1, 2, three.stream.sequence - 1]);
  });

  it("takes a partition over whose last marker has expired", () => {
    const one = instance();
    one.settle();
    one.report(A, "1");
    one.settle();
    one.submit(A, { kind: "deregister" });
    one.perform();
    const two = new WriterInstance(one.stream, "two");
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

  it("does not serve from a fold of a log that went back and was written by another", () => {
    const one = instance();
    one.settle();
    one.report(A, "0");
    one.settle();
    const restore = one.stream.backUp();
    one.report(A, "1");
    one.settle();
    restore();
    const two = instance(one.stream, "two");
    two.settle();
    two.report(C, "1");
    two.settle();
    one.report(B, "1");
    one.settle();
    expect(one.contradictions).toEqual([expect.stringContaining(A)]);
    expect(one.settled.at(-1)).toMatchObject({ kind: "refused", code: "unavailable" });
    one.report(A, "1");
    expect(one.settled.at(-1)).toMatchObject({ kind: "refused", code: "unavailable" });
  });

  it("does not serve from a fold of a log that was emptied", () => {
    const one = instance();
    const restore = one.stream.backUp();
    one.settle();
    one.report(A, "1");
    one.settle();
    restore();
    one.report(B, "1");
    one.settle();
    expect(one.contradictions).toHaveLength(1);
    expect(one.settled.at(-1)).toMatchObject({ kind: "refused", code: "unavailable" });
  });

  it("does not answer for a write that fits another life of the log by chance", () => {
    const one = instance();
    one.settle();
    // Of another partition, and lost.
    one.registry.apply({
      subject: NAMES.registryOwner(8),
      sequence: one.stream.sequence + 1,
      payload: new Uint8Array(),
      headers: {},
      timeUnixMs: 1_000_000,
    });
    one.report(A, "1");
    one.settle();
    expect(one.contradictions).toEqual([expect.stringContaining("stored at 2")]);
    expect(one.settled.at(-1)).toMatchObject({ kind: "refused", code: "unavailable" });
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

  it("gives the reader up that was refused before it reads the partition again", () => {
    const one = instance();
    one.perform("fence-lost");
    expect(one.inFlight()).toBeUndefined();
    const [follow] = one.pending;
    const reader = follow?.kind === "follow" ? follow.reader : undefined;
    expect(reader).toBeDefined();
    one.writer.reloadLost(reader ?? "", "denied");
    expect(one.out.take()).toContainEqual({ kind: "unfollow", reader });
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

  it("refuses requests that waited longer than anybody waits for their answer", () => {
    const one = instance();
    one.settle();
    one.report(A, "1");
    one.report(B, "1");
    one.nowMs += 6_000;
    one.report(C, "1");
    one.settle();
    expect(one.settled).toMatchObject([
      { kind: "done" },
      { kind: "refused", code: "unavailable" },
      { kind: "done" },
    ]);
    expect(one.labels()).toEqual({ [A]: "1", [C]: "1" });
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
