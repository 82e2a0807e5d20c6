import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { VersionRecordSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { VersionOracle } from "./version-oracle.ts";

const LOG = "rw.version.0";

type Content = NonNullable<MessageInitShape<typeof VersionRecordSchema>["record"]>;

function stored(sequence: number, record: Content): StoredRecord {
  const payload = toBinary(VersionRecordSchema, create(VersionRecordSchema, { record }));
  return { subject: LOG, sequence, payload, headers: {}, timeUnixMs: sequence };
}

function begin(sequence: number, epoch: bigint): StoredRecord {
  return stored(sequence, { case: "epochBegin", value: { epoch } });
}

/** A workload's first version, as a batch of its own. */
function first(sequence: number, epoch: bigint, workload: string): StoredRecord {
  const toDigest = new Uint8Array(32).fill(sequence);
  const advances = [{ workload, fromVersion: 0n, toVersion: 1n }];
  return stored(sequence, { case: "batch", value: { epoch, steps: [{ toDigest, advances }] } });
}

function takeAll(oracle: VersionOracle, records: readonly StoredRecord[]): void {
  for (const record of records) {
    oracle.take(record);
  }
}

describe("VersionOracle", () => {
  it("knows what was trimmed of a log that is there again after another was in between", () => {
    const oracle = new VersionOracle();
    const copy = [begin(1, 1n), first(2, 1n, "api-1")];
    const later = [first(3, 1n, "web-1"), first(4, 1n, "web-2")];
    takeAll(oracle, [...copy, ...later]);
    oracle.regressed(copy);
    takeAll(oracle, [begin(3, 2n), first(4, 2n, "db-1")]);

    // Records 1 to 3 were trimmed before the loss; the log in between has others as 3 and 4.
    oracle.regressed(later.slice(1));

    const { epoch, heads } = oracle.partition(LOG);
    expect(epoch).toBe(1n);
    expect([...heads.keys()]).toEqual(["api-1", "web-1", "web-2"]);
  });

  it("keeps nothing of a log that is gone", () => {
    const oracle = new VersionOracle();
    takeAll(oracle, [begin(1, 1n), first(2, 1n, "api-1")]);

    oracle.regressed([]);
    oracle.take(begin(1, 2n));

    expect(oracle.partition(LOG).heads.size).toBe(0);
  });

  it("does not count a batch of an earlier life that is written to a log in its place", () => {
    const oracle = new VersionOracle();
    const log = [begin(1, 1n), first(2, 1n, "api-1")];
    takeAll(oracle, log);
    oracle.regressed(log.slice(0, 1));
    takeAll(oracle, [begin(2, 3n), first(3, 3n, "web-1")]);

    expect(oracle.take(first(4, 2n, "web-2"))).toBeUndefined();

    expect([...oracle.partition(LOG).heads.keys()]).toEqual(["web-1"]);
  });

  it("finds a batch of a lower epoch in a log that never went back", () => {
    const oracle = new VersionOracle();
    takeAll(oracle, [begin(1, 1n), begin(2, 3n)]);

    expect(() => oracle.take(first(3, 1n, "web-2"))).toThrow(/is of epoch 1, the log of 3/);
  });

  it("refuses a record that it has never seen stored", () => {
    const oracle = new VersionOracle();

    expect(() => oracle.regressed([begin(1, 1n)])).toThrow(/VERSIONS 1 was never stored/);
  });
});
