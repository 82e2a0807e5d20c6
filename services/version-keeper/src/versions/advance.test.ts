import { create, fromBinary } from "@bufbuild/protobuf";
import type { Task } from "@ringwall/actor";
import {
  type Inputs,
  InputsSchema,
  type RenderBatch,
  RenderBatchSchema,
  VersionRecordSchema,
} from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Advances, advancesOf } from "./advance.ts";
import { BatchParts, type WholeBatch } from "./batch-parts.ts";
import { PartitionLog } from "./partition-log.ts";
import { batchRecords, epochRecords, recordBytes } from "./version-records.ts";

const A = "a".repeat(64);
const B = "b".repeat(64);
const bytes = (digest: string) => new Uint8Array(Buffer.from(digest, "hex"));

function inputs(registryRevision: number): Inputs {
  return create(InputsSchema, {
    generation: 1n,
    configSequence: 1n,
    commitId: new Uint8Array(32),
    registryRevision: BigInt(registryRevision),
  });
}

function part(
  set: Readonly<Record<string, string>>,
  rest: { full?: boolean; removed?: string[]; refused?: Record<string, string> } = {},
): RenderBatch {
  return create(RenderBatchSchema, {
    inputs: inputs(1),
    full: rest.full ?? false,
    count: 1,
    set: Object.entries(set).map(([workload, digest]) => ({
      digest: bytes(digest),
      workloads: [workload],
    })),
    removed: rest.removed ?? [],
    refused: Object.entries(rest.refused ?? {}).map(([workload, reason]) => ({ workload, reason })),
  });
}

function whole(...parts: RenderBatch[]): WholeBatch {
  return { inputs: inputs(1), full: parts[0]?.full ?? false, parts, sequence: 1 };
}

/** Runs a task that only slices. */
function finish<Result>(task: Task<Result>): Result {
  for (;;) {
    const next = task.next("signalled");
    if (next.done === true) {
      return next.value;
    }
    expect(next.value.kind).toBe("slice");
  }
}

function logWith(heads: Readonly<Record<string, readonly [number, string]>>): PartitionLog {
  const log = new PartitionLog(1_000);
  log.restore({
    epoch: 1n,
    coveredSequence: 1,
    inputs: inputs(1),
    rendered: undefined,
    heads: Object.entries(heads).map(([workload, [version, digest]]) => [
      workload,
      { version, digest },
    ]),
  });
  return log;
}

const all = () => true;

function store(log: PartitionLog, advances: Advances, sequence: number): number {
  const frame = {
    epoch: log.epoch,
    inputs: inputs(1),
    before: log.rendered,
    rendered: { streamCreatedUnixNs: 1n, sequence },
    timeUnixMs: 1,
  };
  let next = log.lastSequence;
  for (const record of batchRecords(frame, advances)) {
    next += 1;
    log.take(fromBinary(VersionRecordSchema, recordBytes(record)).record, next, 1);
  }
  return next;
}

describe("advancesOf", () => {
  it("begins at version 1, keeps the version of an equal body, and counts on after a removal", () => {
    const log = logWith({ same: [4, A], other: [4, A], gone: [7, ""] });
    const batch = whole(part({ same: A, other: B, gone: A, fresh: A }));
    const { advances } = finish(advancesOf(batch, log, all));
    expect(
      advances.map(({ workload, fromVersion, toVersion }) => [workload, fromVersion, toVersion]),
    ).toEqual([
      ["other", 4, 5],
      ["gone", 7, 8],
      ["fresh", 0, 1],
    ]);
    expect(advances.map(({ fromDigest }) => fromDigest)).toEqual([A, "", ""]);
  });

  it("removes what a full batch over all its parts does not name, but not what it refuses", () => {
    const log = logWith({ one: [1, A], two: [1, A], three: [1, A], four: [2, ""] });
    const parts = [
      part({ one: A }, { full: true, refused: { two: "too long" } }),
      part({}, { full: true }),
    ];
    const result = finish(advancesOf(whole(...parts), log, all));
    expect(result.tombstones).toEqual([{ workload: "three", version: 1 }]);
    expect(result.refused).toEqual([{ workload: "two", reason: "too long" }]);
    expect(result.advances).toEqual([]);
  });

  it("says once that a workload is refused, and once that it no longer is", () => {
    const log = logWith({ one: [1, A] });
    const refuse = () => finish(advancesOf(whole(part({}, { refused: { one: "r" } })), log, all));
    store(log, refuse(), 2);
    expect(log.refused.get("one")).toBe("r");
    expect(refuse().refused).toEqual([]);
    const accepted = finish(advancesOf(whole(part({ one: A })), log, all));
    expect(accepted.accepted).toEqual(["one"]);
    store(log, accepted, 3);
    expect(log.refused.size).toBe(0);
  });

  it("leaves out names that do not belong, and counts them", () => {
    const log = logWith({});
    const batch = whole(part({ ours: A, theirs: A }, { refused: { theirs: "r" } }));
    const result = finish(advancesOf(batch, log, (workload) => workload === "ours"));
    expect(result.advances).toHaveLength(1);
    expect(result.strangers).toBe(2);
  });

  it("advances nothing when a batch of many records is taken again after any of them", () => {
    const workloads = Array.from({ length: 12_000 }, (_, n) => `workload-with-a-long-name-${n}`);
    const set = Object.fromEntries(workloads.map((workload) => [workload, A]));
    const log = logWith({});
    const advances = finish(advancesOf(whole(part(set)), log, all));
    const frame = {
      epoch: 1n,
      inputs: inputs(2),
      before: undefined,
      rendered: { streamCreatedUnixNs: 1n, sequence: 9 },
      timeUnixMs: 1,
    };
    const records = batchRecords(frame, advances);
    expect(records.length).toBeGreaterThan(2);
    for (const record of records) {
      expect(recordBytes(record).length).toBeLessThanOrEqual(512 * 1024);
    }
    const [first] = records;
    log.take(first?.record ?? { case: undefined }, 2, 1);
    expect(log.rendered).toBeUndefined();
    const again = finish(advancesOf(whole(part(set)), log, all));
    expect(again.advances).toHaveLength(workloads.length - log.heads.size);
    expect(again.advances.every(({ toVersion }) => toVersion === 1)).toBe(true);
    store(log, again, 9);
    expect(log.rendered?.sequence).toBe(9);
    expect(log.heads.size).toBe(workloads.length);
  });

  it("gives the same heads however changes are batched, and never skips a version", () => {
    const change = fc.record({
      workload: fc.constantFrom("a", "b", "c"),
      digest: fc.constantFrom(A, B, ""),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const log = logWith({});
        const last = new Map<string, string>();
        for (const { workload, digest } of changes) {
          last.set(workload, digest);
          const before = log.heads.get(workload);
          const batch =
            digest === "" ? part({}, { removed: [workload] }) : part({ [workload]: digest });
          store(log, finish(advancesOf(whole(batch), log, all)), log.lastSequence + 1);
          const after = log.heads.get(workload);
          const same = (before?.digest ?? "") === digest;
          const grows = !same && digest !== "" ? 1 : 0;
          expect(after?.version ?? 0).toBe((before?.version ?? 0) + grows);
        }
        for (const [workload, digest] of last) {
          expect(log.heads.get(workload)?.digest ?? "").toBe(digest);
        }
      }),
    );
  });
});

describe("BatchParts", () => {
  const piece = (index: number, count: number, revision = 1) =>
    create(RenderBatchSchema, { inputs: inputs(revision), index, count });

  it("gives a batch with its last part, and begins anew with every first part", () => {
    const parts = new BatchParts();
    expect(parts.take(piece(0, 1), 1)?.sequence).toBe(1);
    expect(parts.take(piece(0, 2), 2)).toBeUndefined();
    expect(parts.take(piece(0, 2), 3)).toBeUndefined();
    expect(parts.take(piece(1, 2), 4)).toMatchObject({ sequence: 4, parts: { length: 2 } });
  });

  it("drops parts that do not follow each other", () => {
    const parts = new BatchParts();
    parts.take(piece(0, 3), 1);
    expect(parts.take(piece(2, 3), 2)).toBeUndefined();
    expect(parts.take(piece(1, 3), 3)).toBeUndefined();
    parts.take(piece(0, 2), 4);
    expect(parts.take(piece(1, 2, 9), 5)).toBeUndefined();
    expect(parts.take(piece(0, 5_000), 6)).toBeUndefined();
  });
});

describe("PartitionLog", () => {
  it("takes an epoch of several parts as one, and only a higher one", () => {
    const heads = Array.from(
      { length: 9_000 },
      (_, n) => [`workload-with-a-long-name-${n}`, { version: 3, digest: A }] as const,
    );
    const records = epochRecords(5n, "test", heads, inputs(1));
    expect(records.length).toBeGreaterThan(1);
    const log = logWith({ old: [1, A] });
    log.suspect("went back");
    records.forEach((record, index) => {
      expect(log.isEpochOpen).toBe(index > 0);
      expect(log.take(record.record, index + 10, 1)).toBe(true);
    });
    expect(log.isEpochOpen).toBe(false);
    expect(log.suspicion).toBeUndefined();
    expect(log.heads.size).toBe(9_000);
    const [lower] = epochRecords(4n, "late", [], undefined);
    expect(log.take(lower?.record ?? { case: undefined }, 99, 1)).toBe(false);
    expect(log.epoch).toBe(5n);
  });

  it("takes an epoch that was begun below what its checkpoint covers", () => {
    const log = new PartitionLog(1_000);
    const heads = [["one", { version: 9, digest: A }]] as const;
    log.restore({ epoch: 3n, coveredSequence: 150, inputs: inputs(1), rendered: undefined, heads });
    const [begin] = epochRecords(4n, "went back", heads, inputs(1));
    expect(log.take(begin?.record ?? { case: undefined }, 101, 1)).toBe(true);
    expect(log.lastSequence).toBe(101);
    expect(store(log, finish(advancesOf(whole(part({ one: B })), log, all)), 1)).toBe(102);
    expect(log.heads.get("one")?.version).toBe(10);
  });

  it("uses what lies below a checkpoint for the history only", () => {
    const log = new PartitionLog(1_000);
    const source = logWith({});
    const frame = {
      epoch: 1n,
      inputs: inputs(1),
      before: undefined,
      rendered: undefined,
      timeUnixMs: 1,
    };
    const [record] = batchRecords(frame, finish(advancesOf(whole(part({ one: A })), source, all)));
    log.restore({
      epoch: 1n,
      coveredSequence: 50,
      inputs: inputs(1),
      rendered: undefined,
      heads: [],
    });
    expect(log.take(record?.record ?? { case: undefined }, 40, 1)).toBe(false);
    expect(log.heads.size).toBe(0);
    expect(log.history.newestFirst("one")).toEqual([40]);
  });
});
