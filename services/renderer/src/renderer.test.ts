import { createHash } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { names, partitionOf } from "@ringwall/bus";
import {
  ConfigCommitSchema,
  ConfigRecordSchema,
  Layer,
  Presence,
  type RenderBatch,
  RenderBatchSchema,
  WorkloadRecordSchema,
} from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { createRenderer } from "./renderer.ts";
import { type Append, ScriptedBus } from "./testing/scripted-bus.ts";

const NAMES = names("rw");
const TEXT = "kind: Service\nname: pg\nentries: [{protocol: tcp}]\n";
const P = partitionOf("db");

function storeCommit(bus: ScriptedBus, parent = new Uint8Array(), text = TEXT) {
  const bytes = new TextEncoder().encode(text);
  const sha256 = new Uint8Array(createHash("sha256").update(bytes).digest());
  const hex = Buffer.from(sha256).toString("hex");
  bus.store("BLOBS", NAMES.blob(hex, 0), bytes, { "Rw-Count": "1" });
  const id = new Uint8Array(createHash("sha256").update(text).digest());
  const path = "policy/service/pg/service.yaml";
  const value = create(ConfigCommitSchema, {
    id,
    parent,
    puts: [{ layer: Layer.CORE, path, sha256 }],
    ...(parent.length === 0 ? { generation: 5n, environment: "prod" } : {}),
  });
  const record = create(ConfigRecordSchema, { record: { case: "commit", value } });
  bus.store("CONFIG", NAMES.configCommit, toBinary(ConfigRecordSchema, record));
  return id;
}

function storeWorkload(bus: ScriptedBus, id: string, outbounds: string[] = []): void {
  const record = create(WorkloadRecordSchema, { id, presence: Presence.LIVE, outbounds });
  const subject = NAMES.registryWorkload(partitionOf(id), id);
  bus.store("REGISTRY", subject, toBinary(WorkloadRecordSchema, record));
}

function begin(prepare: (bus: ScriptedBus) => void = storeCommit): ScriptedBus {
  const bus = new ScriptedBus(
    createRenderer({ names: NAMES, instance: "one", environment: "prod" }),
  );
  prepare(bus);
  bus.deliver({ kind: "start" });
  bus.advance(1_000);
  return bus;
}

const isBatch = ({ stream }: Append) => stream === "RENDERED";
const batchesOf = (bus: ScriptedBus, partition: number): RenderBatch[] =>
  bus.appends
    .filter((append) => isBatch(append) && append.subject === NAMES.rendered(partition))
    .map(({ payload }) => fromBinary(RenderBatchSchema, payload));
const workloadsOf = ({ set }: RenderBatch) => set.flatMap(({ workloads }) => workloads).sort();

describe("Renderer", () => {
  it("waits 10 ms for quiet after a change, and not longer than 100 ms", () => {
    const bus = begin();
    const before = batchesOf(bus, P).length;
    storeWorkload(bus, "db");
    bus.advance(9);
    expect(batchesOf(bus, P)).toHaveLength(before);
    bus.advance(1);
    expect(batchesOf(bus, P)).toHaveLength(before + 1);
    for (let change = 1; change <= 12; change += 1) {
      storeWorkload(bus, "db", Array(change).fill("shop/api"));
      storeWorkload(bus, "db", [`shop/s${change}`]);
      bus.advance(9);
    }
    expect(batchesOf(bus, P)).toHaveLength(before + 2);
  });

  it("stores content before the batch that names it", () => {
    const bus = begin((each) => {
      storeCommit(each);
      storeWorkload(each, "db");
    });
    const [batch] = batchesOf(bus, P);
    const digest = Buffer.from(batch?.set[0]?.digest ?? []).toString("hex");
    const put = bus.appends.findIndex(({ subject }) => subject === NAMES.content(digest, 0));
    const named = bus.appends.findIndex(({ subject }) => subject === NAMES.rendered(P));
    expect(put).toBeGreaterThanOrEqual(0);
    expect(put).toBeLessThan(named);
  });

  it("puts content again that it names more than an hour after it was put", () => {
    const bus = begin((each) => {
      storeCommit(each);
      storeWorkload(each, "db");
    });
    const puts = () => bus.appends.filter(({ stream }) => stream === "CONTENT").length;
    expect(puts()).toBe(1);
    storeWorkload(bus, "db2");
    bus.advance(200);
    expect(puts()).toBe(1);
    bus.advance(3_600_000);
    storeWorkload(bus, "db3");
    bus.advance(200);
    expect(puts()).toBe(2);
  });

  it("emits nothing when it ends in the middle of a rebuild", () => {
    const bus = new ScriptedBus(
      createRenderer({ names: NAMES, instance: "one", environment: "prod" }),
    );
    storeCommit(bus);
    storeWorkload(bus, "db");
    bus.runSlices = false;
    bus.deliver({ kind: "start" });
    bus.advance(10_000);
    bus.deliver({ kind: "stop" });
    bus.resumeSlices();
    bus.advance(10_000);
    expect(bus.appends.filter(isBatch)).toEqual([]);
  });

  it("keeps one append of a partition in flight and joins what comes meanwhile", () => {
    const bus = begin();
    bus.withhold = ({ subject }) => subject === NAMES.rendered(P);
    const before = batchesOf(bus, P).length;
    storeWorkload(bus, "db");
    bus.advance(200);
    const others = inPartition(3);
    for (const id of others) {
      storeWorkload(bus, id);
      bus.advance(200);
    }
    expect(bus.withheld).toHaveLength(1);
    bus.withhold = () => false;
    bus.release();
    bus.advance(200);
    const batches = batchesOf(bus, P).slice(before);
    expect(batches.map(workloadsOf)).toEqual([["db"], others]);
  });

  it("splits a batch at 512 KiB and numbers its parts", () => {
    const bus = begin((each) => {
      storeCommit(each);
      for (const id of inPartition(9_000, 60)) {
        storeWorkload(each, id);
      }
    });
    const batches = batchesOf(bus, P);
    expect(batches.map(({ index, count, full }) => [index, count, full])).toEqual([
      [0, 2, true],
      [1, 2, true],
    ]);
    expect(batches.flatMap(workloadsOf)).toHaveLength(9_000);
    const sizes = bus.appends.filter(isBatch).map(({ payload }) => payload.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(512 * 1024);
  });

  it("emits each commit's inputs to every partition, in generation and sequence", () => {
    const bus = begin((each) => {
      const parent = storeCommit(each);
      storeCommit(each, parent, `${TEXT}# again\n`);
    });
    const batches = bus.appends.filter(isBatch).map(({ payload }) => payload);
    expect(batches).toHaveLength(64);
    for (const payload of batches) {
      const { inputs, full, set } = fromBinary(RenderBatchSchema, payload);
      expect([inputs?.generation, inputs?.configSequence]).toEqual([5n, 2n]);
      expect([full, set]).toEqual([true, []]);
    }
  });

  it("does not count a commit that does not follow the head", () => {
    const bus = begin((each) => {
      storeCommit(each);
      storeCommit(each, new Uint8Array(32).fill(1), `${TEXT}# other\n`);
    });
    const batches = bus.appends.filter(isBatch).map(({ payload }) => payload);
    expect(batches).toHaveLength(64);
    for (const payload of batches) {
      expect(fromBinary(RenderBatchSchema, payload).inputs?.configSequence).toBe(1n);
    }
  });

  it("begins anew when a stream is lost, and emits full batches after it is judged", () => {
    const bus = begin((each) => {
      storeCommit(each);
      storeWorkload(each, "db");
    });
    const before = batchesOf(bus, P).length;
    bus.deliver({ kind: "reader-lost", reader: "life1.registry", detail: "created anew" });
    expect(bus.effects.findLast(({ kind }) => kind === "ready")).toMatchObject({ ready: false });
    bus.advance(3_000);
    const after = batchesOf(bus, P).slice(before);
    expect(after.map(({ full }) => full)).toEqual([true]);
    expect(after.flatMap(workloadsOf)).toEqual(["db"]);
  });

  it("does not answer wants for partitions that it does not own, nor ones it can't read", () => {
    const bus = begin();
    const payload = new Uint8Array([0xff]);
    const delivery = { kind: "delivery", subject: "x", payload, headers: {} } as const;
    bus.deliver({ ...delivery, listener: "batch.want", replyTo: "r1" });
    bus.deliver({ ...delivery, listener: "content.want" });
    expect(bus.effects.filter(({ kind }) => kind === "reply")).toHaveLength(1);
    const unreadable = bus.effects.filter(
      (effect) => effect.kind === "count" && effect.name === "ringwall_unreadable_requests_total",
    );
    expect(unreadable).toHaveLength(2);
  });
});

/** Ids of the partition of `db`, sorted, at least `chars` long. */
function inPartition(count: number, chars = 0): string[] {
  const ids: string[] = [];
  for (let at = 0; ids.length < count; at += 1) {
    const id = `w${at}`.padEnd(chars, "x");
    if (partitionOf(id) === P) {
      ids.push(id);
    }
  }
  return ids.sort();
}
