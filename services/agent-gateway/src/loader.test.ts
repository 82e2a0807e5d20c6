import { createHash } from "node:crypto";
import { clone, create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { partitionOf } from "@ringwall/bus";
import { bodyDigest } from "@ringwall/rendered";
import { AgentState, ConfigCheckpointSchema, VersionCheckpointSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { Bench, claim } from "./testing/bench.ts";
import { advance, body, commit, epoch, inputsAt, registered, stored } from "./testing/records.ts";
import { fromHex } from "./wire/hex.ts";

const A = body("10.0.0.1/32");
const B = body("10.0.0.2/32");
const PARTITION = partitionOf("web-1");

type Init = MessageInitShape<typeof VersionCheckpointSchema>;

/** Feeds a checkpoint of web-1's partition in as many parts as there are heads lists. */
function checkpoint(bench: Bench, slot: string, init: Init, damage = false): void {
  const part = create(VersionCheckpointSchema, {
    epoch: 5n,
    streamCreatedUnixNs: 7n,
    coveredSequence: 40n,
    inputs: inputsAt(1),
    count: 1,
    heads: [{ workload: "web-1", version: 9n, digest: fromHex(bodyDigest(A)) }],
    ...init,
  });
  const last = clone(VersionCheckpointSchema, part);
  const digest = createHash("sha256").update(toBinary(VersionCheckpointSchema, part)).digest();
  last.totalDigest = damage ? new Uint8Array(32) : new Uint8Array(digest);
  bench.step({
    kind: "record",
    reader: "checkpoints",
    record: {
      subject: bench.names.checkpoint("version", PARTITION, slot === "a" ? "a" : "b", 0),
      sequence: 1,
      payload: toBinary(VersionCheckpointSchema, last),
      headers: {},
      timeUnixMs: 0,
    },
  });
}

/** Feeds a checkpoint of CONFIG that was made with a registry. */
function configCheckpoint(bench: Bench, registryCreatedUnixNs: bigint): void {
  const made = create(ConfigCheckpointSchema, { inputs: inputsAt(1), registryCreatedUnixNs });
  bench.step({
    kind: "record",
    reader: "checkpoints-config",
    record: {
      subject: bench.names.checkpoint("config", 0, "a", 0),
      sequence: 2,
      payload: toBinary(ConfigCheckpointSchema, made),
      headers: {},
      timeUnixMs: 0,
    },
  });
}

function started(): Bench {
  const bench = new Bench();
  bench.step({ kind: "start" });
  bench.feed(commit("rw", 1));
  bench.feed(registered("rw", "web-1"));
  for (const entry of [...stored("rw", A), ...stored("rw", B)]) bench.feed(entry);
  return bench;
}

const INFO = { firstSequence: 1, lastSequence: 9 };

/** A gateway with a checkpoint that was made with another registry than the one that is there. */
function heldByRegistry(): Bench {
  const bench = started();
  checkpoint(bench, "a", { registryCreatedUnixNs: 3n });
  bench.read(60);
  bench.step({ kind: "stream-info", tag: "ground:CONFIG", createdUnixNs: 1n, ...INFO });
  bench.step({ kind: "stream-info", tag: "ground:REGISTRY", createdUnixNs: 4n, ...INFO });
  return bench;
}

describe("a gateway that starts from checkpoints", () => {
  it("knows heads that the log no longer holds, and reads on from there", () => {
    const bench = started();
    checkpoint(bench, "a", {});
    bench.read(60);
    const follow = bench.all("follow").find(({ reader }) => reader === "versions");
    expect(follow?.from).toBe("all");
    bench.hello("web-1", claim(A, 9, 5n));
    expect(bench.state()).toBe(AgentState.SYNCED);
  });

  it("takes the newer of two, and the older one when the newer is damaged", () => {
    for (const damaged of [false, true]) {
      const bench = started();
      checkpoint(bench, "a", {});
      const heads = [{ workload: "web-1", version: 12n, digest: fromHex(bodyDigest(B)) }];
      checkpoint(bench, "b", { coveredSequence: 50n, heads }, damaged);
      bench.read(60);
      bench.hello();
      expect(bench.push().headVersion).toBe(damaged ? 9n : 12n);
    }
  });

  it.each([
    ["was created anew", { streamCreatedUnixNs: 6n }, 60],
    ["has gone back", {}, 30],
  ])("pushes nothing from a log that %s until a higher epoch begins", (_name, init, last) => {
    const bench = started();
    checkpoint(bench, "a", init);
    bench.read(last);
    bench.hello();
    expect(bench.pushes()).toEqual([]);
    expect(bench.status().detail).toContain("not the log that its checkpoints cover");
    bench.feed(advance("rw", "web-1", undefined, { version: 1, policy: B }, { epoch: 5n }));
    expect(bench.pushes()).toEqual([]);
    const heads = [{ workload: "web-1", version: 9n, digest: fromHex(bodyDigest(A)) }];
    bench.feed(epoch("rw", "web-1", 6n, { heads, inputs: inputsAt(1) }));
    expect(bench.push()).toMatchObject({ epoch: 6n, headVersion: 9n });
  });

  it("is held when the registry is not the one of its checkpoints", () => {
    const bench = heldByRegistry();
    bench.hello();
    expect(bench.state()).toBe(AgentState.HELD);
    expect(bench.all("ready").at(-1)).toMatchObject({ ready: false });
  });

  it("asks again for the registry that its checkpoints speak against", () => {
    const bench = heldByRegistry();
    bench.effects = [];
    bench.wait(1000);
    expect(bench.all("stream-info").map(({ tag }) => tag)).toContain("ground:REGISTRY");
    bench.step({ kind: "stream-info", tag: "ground:CONFIG", createdUnixNs: 1n, ...INFO });
    bench.step({ kind: "stream-info", tag: "ground:REGISTRY", createdUnixNs: 3n, ...INFO });
    bench.wait(1000);
    expect(bench.all("ready").at(-1)).toMatchObject({ ready: true });
  });

  it("learns from a newer checkpoint of CONFIG which registry counts", () => {
    const bench = heldByRegistry();
    configCheckpoint(bench, 4n);
    expect(bench.all("ready").at(-1)).toMatchObject({ ready: true });
  });

  it("does not take a registry for accepted because checkpoints are of a former generation", () => {
    const bench = started();
    checkpoint(bench, "a", { registryCreatedUnixNs: 3n, inputs: { generation: 0n } });
    bench.read(60);
    bench.step({ kind: "stream-info", tag: "ground:CONFIG", createdUnixNs: 1n, ...INFO });
    bench.step({ kind: "stream-info", tag: "ground:REGISTRY", createdUnixNs: 4n, ...INFO });
    expect(bench.all("ready").at(-1)).toMatchObject({ ready: true });
    configCheckpoint(bench, 3n);
    expect(bench.all("ready").at(-1)?.reason).toContain("REGISTRY is not the one");
    bench.step({ kind: "stream-info", tag: "ground:CONFIG", createdUnixNs: 1n, ...INFO });
    bench.step({ kind: "stream-info", tag: "ground:REGISTRY", createdUnixNs: 3n, ...INFO });
    expect(bench.all("ready").at(-1)).toMatchObject({ ready: true });
  });

  it("reads checkpoints again when there is a newer one than that which holds it", () => {
    const bench = heldByRegistry();
    bench.step({ kind: "caught-up", reader: "checkpoints-watch", sequence: 1 });
    bench.effects = [];
    const subject = "rw.checkpoint.version.0.b.0";
    const record = { subject, sequence: 2, payload: new Uint8Array(), headers: {}, timeUnixMs: 0 };
    bench.step({ kind: "record", reader: "checkpoints-watch", record });
    bench.step({ kind: "timer", id: "loader:versions" });
    expect(bench.all("follow").map(({ reader }) => reader)).toContain("checkpoints");
  });
});

describe("a gateway whose log is lost while it runs", () => {
  it("keeps its heads to itself until the log's keeper has begun an epoch", () => {
    const bench = Bench.ready();
    for (const entry of stored("rw", A)) bench.feed(entry);
    bench.feed(advance("rw", "web-1", undefined, { version: 1, policy: A }));
    bench.step({ kind: "reader-lost", reader: "versions", detail: "created anew" });
    bench.step({ kind: "timer", id: "loader:versions" });
    bench.step({ kind: "caught-up", reader: "checkpoints", sequence: 0 });
    const info = { firstSequence: 0, lastSequence: 0 };
    bench.step({ kind: "stream-info", tag: "loader:VERSIONS", createdUnixNs: 8n, ...info });
    bench.step({ kind: "caught-up", reader: "versions", sequence: 0 });
    bench.hello();
    expect(bench.pushes()).toEqual([]);
    const heads = [{ workload: "web-1", version: 1n, digest: fromHex(bodyDigest(A)) }];
    bench.feed(epoch("rw", "web-1", 2n, { heads, inputs: inputsAt(1) }));
    expect(bench.push()).toMatchObject({ epoch: 2n, headVersion: 1n });
  });

  it.each([
    ["came back", { createdUnixNs: 8n, lastSequence: 9 }],
    ["went back", { createdUnixNs: 7n, lastSequence: 8 }],
  ])("reads VERSIONS again that %s while it was being read", (_what, now) => {
    const bench = new Bench();
    bench.step({ kind: "start" });
    bench.read(9);
    bench.effects = [];
    const confirmed = { kind: "stream-info", tag: "loader:confirm", firstSequence: 1 } as const;
    bench.step({ ...confirmed, createdUnixNs: 7n, lastSequence: 9 });
    expect(bench.all("unfollow")).toEqual([]);
    bench.step({ ...confirmed, ...now });
    expect(bench.all("unfollow").map(({ reader }) => reader)).toEqual(["versions"]);
    bench.step({ kind: "timer", id: "loader:versions" });
    expect(bench.all("follow").map(({ reader }) => reader)).toContain("checkpoints");
  });

  it("refuses to serve a control plane of another environment", () => {
    const bench = new Bench();
    bench.step({ kind: "start" });
    bench.read();
    bench.step({
      kind: "record",
      reader: "config",
      record: { ...commit("rw", 1, "staging"), sequence: 1, headers: {}, timeUnixMs: 0 },
    });
    expect(bench.all("unlisten")).toMatchObject([{ listener: "hello" }]);
    expect(bench.all("ready").at(-1)?.reason).toContain('serves environment "staging"');
  });
});
