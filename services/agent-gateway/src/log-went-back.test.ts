import { createHash } from "node:crypto";
import { clone, create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { partitionOf } from "@ringwall/bus";
import { bodyDigest } from "@ringwall/rendered";
import { VersionCheckpointSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { Bench } from "./testing/bench.ts";
import {
  accepted,
  advance,
  batch,
  body,
  epoch,
  GENERATION,
  inputsAt,
  stored,
} from "./testing/records.ts";
import { fromHex } from "./wire/hex.ts";

const A = body("10.0.0.1/32");

/** A checkpoint of web-1's partition. */
function checkpoint(bench: Bench, init: MessageInitShape<typeof VersionCheckpointSchema>): void {
  const part = create(VersionCheckpointSchema, { inputs: inputsAt(1), count: 1, ...init });
  const whole = clone(VersionCheckpointSchema, part);
  const digest = createHash("sha256").update(toBinary(VersionCheckpointSchema, part)).digest();
  whole.totalDigest = new Uint8Array(digest);
  const record = {
    subject: bench.names.checkpoint("version", partitionOf("web-1"), "a", 0),
    sequence: 1,
    payload: toBinary(VersionCheckpointSchema, whole),
    headers: {},
    timeUnixMs: 0,
  };
  bench.step({ kind: "record", reader: "checkpoints", record });
}

/** What a gateway hears while it reads VERSIONS again. */
function readAgain(
  bench: Bench,
  lastSequence: number,
  init?: MessageInitShape<typeof VersionCheckpointSchema>,
): void {
  bench.step({ kind: "timer", id: "loader:versions" });
  if (init !== undefined) {
    checkpoint(bench, init);
  }
  bench.step({ kind: "caught-up", reader: "checkpoints", sequence: 0 });
  bench.step({
    kind: "stream-info",
    tag: "loader:VERSIONS",
    createdUnixNs: init?.streamCreatedUnixNs ?? 7n,
    firstSequence: 1,
    lastSequence,
  });
}

function withHead(at: bigint) {
  const heads = [{ workload: "web-1", version: 3n, digest: fromHex(bodyDigest(A)) }];
  return epoch("rw", "web-1", at, { heads, inputs: inputsAt(1) });
}

describe("a gateway whose log went back to an older copy", () => {
  it("takes the log as it is now, though it had read a later epoch before", () => {
    const bench = Bench.ready();
    for (const entry of stored("rw", A)) bench.feed(entry);
    bench.feed(withHead(9n));
    bench.step({ kind: "reader-lost", reader: "versions", detail: "went back" });
    readAgain(bench, 40);
    bench.feed(withHead(4n));
    bench.step({ kind: "caught-up", reader: "versions", sequence: 40 });
    bench.hello();
    expect(bench.push()).toMatchObject({ epoch: 4n, headVersion: 3n });
  });

  it("takes a whole store that came back together with its checkpoints for what it is", () => {
    const bench = Bench.ready();
    for (const entry of stored("rw", A)) bench.feed(entry);
    bench.step({ kind: "reader-lost", reader: "versions", detail: "created anew" });
    const heads = [{ workload: "web-1", version: 3n, digest: fromHex(bodyDigest(A)) }];
    readAgain(bench, 60, { epoch: 4n, streamCreatedUnixNs: 5n, coveredSequence: 40n, heads });
    bench.step({ kind: "caught-up", reader: "versions", sequence: 60 });
    bench.hello();
    expect(bench.push()).toMatchObject({ epoch: 4n, headVersion: 3n });
  });

  it("judges a log by the checkpoints that are there now when those that it contradicted are lost", () => {
    const bench = Bench.ready();
    for (const entry of stored("rw", A)) bench.feed(entry);
    const heads = [{ workload: "web-1", version: 3n, digest: fromHex(bodyDigest(A)) }];
    bench.step({ kind: "reader-lost", reader: "versions", detail: "created anew" });
    readAgain(bench, 40, { epoch: 9n, streamCreatedUnixNs: 7n, coveredSequence: 60n, heads });
    bench.step({ kind: "caught-up", reader: "versions", sequence: 40 });
    bench.hello();
    expect(bench.status().detail).toContain("not the log that its checkpoints cover");
    bench.step({ kind: "reader-lost", reader: "checkpoints-watch", detail: "created anew" });
    readAgain(bench, 40, { epoch: 4n, streamCreatedUnixNs: 7n, coveredSequence: 30n, heads });
    bench.step({ kind: "caught-up", reader: "versions", sequence: 40 });
    expect(bench.push()).toMatchObject({ epoch: 4n, headVersion: 3n });
  });

  it("does not begin where checkpoints say that were lost while it read them", () => {
    const bench = Bench.ready();
    for (const entry of stored("rw", A)) bench.feed(entry);
    const heads = [{ workload: "web-1", version: 3n, digest: fromHex(bodyDigest(A)) }];
    bench.step({ kind: "reader-lost", reader: "versions", detail: "created anew" });
    bench.step({ kind: "timer", id: "loader:versions" });
    checkpoint(bench, { epoch: 9n, streamCreatedUnixNs: 7n, coveredSequence: 60n, heads });
    bench.step({ kind: "reader-lost", reader: "checkpoints-watch", detail: "created anew" });
    bench.step({ kind: "caught-up", reader: "checkpoints", sequence: 0 });
    const info = { createdUnixNs: 7n, firstSequence: 1, lastSequence: 40 };
    bench.step({ kind: "stream-info", tag: "loader:VERSIONS", ...info });
    readAgain(bench, 40, { epoch: 4n, streamCreatedUnixNs: 7n, coveredSequence: 30n, heads });
    bench.step({ kind: "caught-up", reader: "versions", sequence: 40 });
    bench.hello();
    expect(bench.push()).toMatchObject({ epoch: 4n, headVersion: 3n });
  });

  it("keeps what it has read when checkpoints are lost that nothing contradicts", () => {
    const bench = Bench.ready();
    for (const entry of stored("rw", A)) bench.feed(entry);
    bench.feed(withHead(9n));
    bench.effects = [];
    bench.step({ kind: "reader-lost", reader: "checkpoints-watch", detail: "went back" });
    bench.step({ kind: "timer", id: "loader:checkpoints-watch" });
    expect(bench.all("unfollow")).toEqual([]);
    expect(bench.all("follow")).toMatchObject([{ reader: "checkpoints-watch" }]);
    bench.hello();
    expect(bench.push()).toMatchObject({ epoch: 9n, headVersion: 3n });
  });

  it("pushes nothing that was rendered before an operator accepted the state", () => {
    const bench = Bench.ready();
    for (const entry of stored("rw", A)) bench.feed(entry);
    const generation = GENERATION + 1n;
    bench.feed(accepted("rw", generation));
    bench.feed(withHead(9n));
    bench.hello();
    expect(bench.all("publish").filter(({ subject }) => subject.endsWith(".down"))).toHaveLength(1);
    expect(bench.status().detail).toContain("rendered anew");
    const inputs = { ...inputsAt(1), generation };
    bench.feed(batch("rw", "web-1", { epoch: 9n, inputs }));
    expect(bench.push()).toMatchObject({ epoch: 9n, headVersion: 3n });
  });

  it("reads the whole log when a record is of an epoch whose beginning it has not read", () => {
    const bench = Bench.ready();
    for (const entry of stored("rw", A)) bench.feed(entry);
    bench.effects = [];
    bench.feed(advance("rw", "web-1", undefined, { version: 4, policy: A }, { epoch: 6n }));
    expect(bench.all("unfollow")).toMatchObject([{ reader: "versions" }]);
    readAgain(bench, 40);
    expect(bench.all("follow").find(({ reader }) => reader === "versions")?.from).toBe("all");
    bench.feed(withHead(6n));
    bench.step({ kind: "caught-up", reader: "versions", sequence: 40 });
    bench.hello();
    expect(bench.push()).toMatchObject({ epoch: 6n, headVersion: 3n });
  });

  it("looks again for the beginning of an epoch until a checkpoint has it", () => {
    const bench = Bench.ready();
    for (const entry of stored("rw", A)) bench.feed(entry);
    const later = () =>
      bench.feed(advance("rw", "web-1", undefined, { version: 4, policy: A }, { epoch: 6n }));
    later();
    readAgain(bench, 40);
    later();
    bench.step({ kind: "caught-up", reader: "versions", sequence: 40 });
    bench.effects = [];
    bench.wait(3000);
    expect(bench.all("unfollow")).toEqual([]);
    bench.wait(2000);
    expect(bench.all("unfollow")).toMatchObject([{ reader: "versions" }]);
    const heads = [{ workload: "web-1", version: 3n, digest: fromHex(bodyDigest(A)) }];
    readAgain(bench, 40, { epoch: 6n, streamCreatedUnixNs: 7n, coveredSequence: 30n, heads });
    bench.step({ kind: "caught-up", reader: "versions", sequence: 40 });
    bench.hello();
    expect(bench.push()).toMatchObject({ epoch: 6n, headVersion: 3n });
  });
});
