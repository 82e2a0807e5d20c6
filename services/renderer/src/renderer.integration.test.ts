import { create, toBinary } from "@bufbuild/protobuf";
import {
  api,
  type Bus,
  connectBus,
  ensureTopology,
  partitionOf,
  type RunningService,
  serviceOptions,
  startService,
} from "@ringwall/bus";
import { assemble, references } from "@ringwall/rendered";
import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import {
  ContentWantSchema,
  EnforcementMode,
  FullBatchWantSchema,
  ServiceStatusRequestSchema,
  ServiceStatusResponseSchema,
} from "@ringwall/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rendererService } from "./index.ts";
import { ControlPlane, lastBody, type StoredBatch } from "./testing/control-plane.ts";

let nats: NatsServer;
let bus: Bus;
let plane: ControlPlane;
let services: RunningService[] = [];

beforeEach(async () => {
  nats = await startNats();
  bus = await connectBus({ url: nats.url, name: "test" });
  plane = await new ControlPlane(bus).open();
});

afterEach(async () => {
  await Promise.all(services.map((service) => service.stop()));
  services = [];
  await bus.close();
  await nats.stop();
});

async function start(instance: string, environment = "prod"): Promise<RunningService> {
  const options = serviceOptions(
    ["--nats-url", nats.url, "--instance", instance, "--env", environment],
    { RINGWALL_LOG_LEVEL: "silent" },
    rendererService.own,
  );
  const service = await startService({ ...rendererService, options });
  services.push(service);
  return service;
}

const ready = (service: RunningService) =>
  eventually(
    "readiness",
    () => service.problems(),
    (problems) => problems.length === 0,
  );

const problem = (service: RunningService, words: RegExp) =>
  eventually(
    `a problem like ${words}`,
    () => service.problems().join(),
    (text) => words.test(text),
  );

const batchesOf = (id: string, enough: (batches: StoredBatch[]) => boolean) =>
  eventually(`batches of ${id}`, () => plane.batches(id), enough);

const RULESET = "policy/ruleset/to-db/ruleset.yaml";
const rules = (port: number) =>
  `kind: Ruleset\nname: to-db\nscope: app=db\nrules:\n  - name: sql\n    peers:\n` +
  `      - workloads: app=web\n    entries:\n      - {protocol: tcp, ports: [${port}]}\n`;
const MODE = "policy/inventory/db/inventory.yaml";
const mode = (text: string) => `kind: Inventory\nname: db\nworkload: db\nmode: ${text}\n`;

async function policyOf(digest: string | undefined) {
  const manifest = digest === undefined ? undefined : await plane.content(digest);
  if (manifest === undefined) {
    throw new Error(`body ${digest} is not stored`);
  }
  const sets = new Map<string, Uint8Array>();
  for (const each of references(manifest)) {
    const bytes = await plane.content(each);
    if (bytes !== undefined) {
      sets.set(each, bytes);
    }
  }
  return assemble(manifest, (each) => sets.get(each), 1n);
}

describe("renderer", () => {
  it("holds without a commit, then renders, stores content and follows every change", async () => {
    const service = await start("one");
    await problem(service, /held: CONFIG has no commit/);
    await plane.workload("db", { labels: { app: "db" }, addresses: ["10.0.0.1"] });
    await plane.workload("web", { labels: { app: "web" }, addresses: ["10.0.0.2"] });
    expect(await plane.lastSequence("RENDERED")).toBe(0);

    await plane.commit({ [RULESET]: rules(5432) });
    await ready(service);
    const first = lastBody(await batchesOf("db", (each) => each.length > 0), "db");
    const policy = await policyOf(first);
    expect(policy.mode).toBe(EnforcementMode.VISIBILITY);
    expect(policy.inboundRules[0]?.peerCidrs).toEqual(["10.0.0.2/32"]);

    await plane.workload("web", { labels: { app: "web" }, addresses: ["10.0.0.3"] });
    const changed = await batchesOf("db", (each) => lastBody(each, "db") !== first);
    expect(changed.at(-1)?.batch.full).toBe(false);
    expect((await policyOf(lastBody(changed, "db"))).inboundRules[0]?.peerCidrs).toEqual([
      "10.0.0.3/32",
    ]);

    await plane.remove("db");
    await batchesOf("db", (each) => each.at(-1)?.batch.removed[0] === "db");
  });

  it("moves the inputs of every partition with each commit, even if nothing changed", async () => {
    await plane.commit({ [RULESET]: rules(5432) });
    const service = await start("one");
    await ready(service);
    await eventually(
      "a full batch in every partition",
      () => plane.lastSequence("RENDERED"),
      (sequence) => sequence === 64,
    );
    const sequence = await plane.commit({ [RULESET]: rules(5433) });
    await eventually(
      "an empty batch in every partition",
      () => plane.lastSequence("RENDERED"),
      (last) => last === 128,
    );
    const { batch } = (await plane.batches("db")).at(-1) ?? {};
    expect(batch).toMatchObject({ full: false, set: [], removed: [], index: 0, count: 1 });
    expect(batch?.inputs?.configSequence).toBe(BigInt(sequence));
  });

  it("says the same bodies after a restart, in one full batch", async () => {
    await plane.workload("db", { labels: { app: "db" }, addresses: ["10.0.0.1"] });
    await plane.commit({ [RULESET]: rules(5432) });
    const before = await start("one");
    await ready(before);
    const first = lastBody(await batchesOf("db", (each) => each.length > 0), "db");
    await before.stop();
    const after = await start("two");
    await ready(after);
    const batches = await batchesOf("db", (each) => each.length > 1);
    expect(batches).toHaveLength(2);
    expect(batches[1]?.batch.full).toBe(true);
    expect(lastBody(batches, "db")).toBe(first);
  });

  it("shares partitions between two instances and takes over those of one that is gone", async () => {
    await plane.commit({ [RULESET]: rules(5432) });
    const one = await start("one");
    const two = await start("two");
    await Promise.all([ready(one), ready(two)]);
    const ask = () =>
      api(bus).callAll(
        "service",
        "status",
        ServiceStatusRequestSchema,
        ServiceStatusResponseSchema,
        {},
      );
    await eventually("an even share", ask, (answers) =>
      answers.every(({ slots }) => slots.length === 32),
    );
    await one.stop();
    await plane.workload("db", { labels: { app: "db" } });
    await plane.workload("web", { labels: { app: "web" } });
    for (const id of ["db", "web"]) {
      await batchesOf(id, (each) => lastBody(each, id)?.length === 64);
    }
  });

  it("emits nothing while the log's inputs are above its own, and reloads after a lost fence", async () => {
    await plane.workload("db", { labels: { app: "db" } });
    await plane.commit({ [RULESET]: rules(5432) });
    const service = await start("one");
    await ready(service);
    const [own] = await batchesOf("db", (each) => each.length > 0);
    if (own?.batch.inputs === undefined) {
      throw new Error("a batch has inputs");
    }
    const inputs = own.batch.inputs;
    await plane.foreignBatch("db", { inputs, full: true, count: 1 });
    await plane.workload("db", { labels: { app: "db" }, outbounds: ["shop/api"] });
    const batches = await batchesOf("db", (each) => each.length > 2);
    expect(batches[2]?.batch.full).toBe(true);
    expect(lastBody(batches, "db")).toHaveLength(64);
  });

  it("marks a workload before its first enforced body goes out, and clears it after a weaker mode", async () => {
    await plane.workload("db", { labels: { app: "db" } });
    await plane.commit({ [RULESET]: rules(5432) });
    const service = await start("one");
    await ready(service);
    const weak = lastBody(await batchesOf("db", (each) => each.length > 0), "db");
    await plane.commit({ [MODE]: mode("enforced") });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(lastBody(await plane.batches("db"), "db")).toBe(weak);

    const asked = plane.markEnforced();
    const batches = await batchesOf("db", (each) => lastBody(each, "db") !== weak);
    expect(asked[0]).toEqual({ ids: ["db"], enforced: true });
    expect((await policyOf(lastBody(batches, "db"))).mode).toBe(EnforcementMode.ENFORCED);
    const marked = BigInt(await plane.lastSequence("REGISTRY"));
    expect(batches.at(-1)?.batch.inputs?.registryRevision).toBe(marked);

    await plane.commit({ [MODE]: undefined });
    await eventually(
      "a batch of that commit",
      () => plane.batches("db"),
      (each) => each.at(-1)?.batch.inputs?.configSequence === BigInt(plane.head.sequence),
    );
    expect(lastBody(await plane.batches("db"), "db")).toBe(lastBody(batches, "db"));

    await plane.commit({ [MODE]: mode("visibility") });
    await batchesOf("db", (each) => lastBody(each, "db") === weak);
    await eventually("the mark to go", () => asked.at(-1)?.enforced === false);
  });

  it("holds at a head that can't be read or admitted, and goes on with a later commit", async () => {
    await plane.workload("db", { labels: { app: "db" } });
    await plane.commit({ [RULESET]: rules(5432) });
    const service = await start("one");
    await ready(service);
    const before = await batchesOf("db", (each) => each.length > 0);
    await plane.commit({ [RULESET]: rules(99_999) });
    await problem(service, /held: commit .*port-range/);
    await plane.workload("db", { labels: { app: "db" }, addresses: ["10.0.0.1"] });
    await plane.commit({ [RULESET]: rules(5433) }, false);
    await problem(service, /held: commit .*is not stored/);
    expect(await plane.batches("db")).toHaveLength(before.length);
    await plane.commit({ [RULESET]: rules(5434) });
    await ready(service);
    await batchesOf("db", (each) => lastBody(each, "db") !== lastBody(before, "db"));
  });

  it("refuses to work for another environment", async () => {
    await plane.commit({ [RULESET]: rules(5432) });
    const service = await start("one", "staging");
    await problem(service, /environment "prod", this instance of "staging"/);
    expect(await plane.lastSequence("RENDERED")).toBe(0);
  });

  it("holds when a later record names what the streams do not have, until that is accepted", async () => {
    await plane.workload("db", { labels: { app: "db" } });
    const configSequence = await plane.commit({ [RULESET]: rules(5432) });
    const generation = BigInt(Date.now());
    const lost = new Uint8Array(32).fill(7);
    const claim = { generation: 1n, configSequence: 9n, commitId: lost, registryRevision: 1n };
    await plane.foreignBatch("db", { inputs: claim, full: true, count: 1 });
    const service = await start("one");
    await problem(service, /held: RENDERED .* names commit 070707070707 at CONFIG 9/);
    expect(await plane.batches("db")).toHaveLength(1);
    await plane.accept({
      generation: generation + 1_000_000n,
      overruled: [{ generation: 1n, configSequence: 9n, commitId: lost }],
    });
    await ready(service);
    const batches = await batchesOf("db", (each) => each.length > 1);
    expect(batches[1]?.batch.inputs).toMatchObject({
      generation: generation + 1_000_000n,
      configSequence: BigInt(configSequence),
    });
  });

  it("answers wants: a full batch, and content that was lost", async () => {
    await plane.workload("db", { labels: { app: "db" } });
    await plane.commit({ [RULESET]: rules(5432) });
    const service = await start("one");
    await ready(service);
    const before = await batchesOf("db", (each) => each.length > 0);
    const want = create(FullBatchWantSchema, { partition: partitionOf("db") });
    bus.nc.publish(bus.names.internal("batch", "want"), toBinary(FullBatchWantSchema, want));
    const after = await batchesOf("db", (each) => each.length > before.length);
    expect(after.at(-1)?.batch.full).toBe(true);

    const body = lastBody(after, "db") ?? "";
    // Content that was stored in the last seconds is taken to be there.
    await new Promise((resolve) => setTimeout(resolve, 5_100));
    await bus.jsm.streams.purge(bus.names.stream("CONTENT"));
    const digests = [Buffer.from(body, "hex"), new Uint8Array(32)];
    const content = create(ContentWantSchema, {
      digests: digests.map((each) => new Uint8Array(each)),
    });
    bus.nc.publish(bus.names.internal("content", "want"), toBinary(ContentWantSchema, content));
    await eventually("the content", async () => (await plane.content(body)) !== undefined);
  });

  it("sends no full batch while a record of the partition can't be read", async () => {
    await plane.damage("db");
    await plane.commit({ [RULESET]: rules(5432) });
    const service = await start("one");
    await ready(service);
    await eventually(
      "batches of the others",
      () => plane.lastSequence("RENDERED"),
      (sequence) => sequence === 63,
    );
    expect(await plane.batches("db")).toEqual([]);
    await plane.workload("db", { labels: { app: "db" } });
    await batchesOf("db", (each) => lastBody(each, "db")?.length === 64);
  });

  it("is held, and emits nothing, after the store was wiped under it", async () => {
    await plane.workload("db", { labels: { app: "db" } });
    await plane.commit({ [RULESET]: rules(5432) });
    const service = await start("one");
    await ready(service);
    await batchesOf("db", (each) => each.length > 0);
    await nats.kill();
    await nats.wipe();
    await nats.restart();
    await bus.whenConnected(60_000);
    await problem(service, /held: CONFIG has no commit/);
    expect(await plane.lastSequence("RENDERED")).toBe(0);
  });

  it("is held, and takes nobody's policy, when REGISTRY alone is made anew under it", async () => {
    await plane.workload("db", { labels: { app: "db" } });
    await plane.workload("web", { labels: { app: "web" } });
    await plane.commit({ [RULESET]: rules(5432) });
    const service = await start("one");
    await ready(service);
    const before = await batchesOf("db", (each) => each.length > 0);
    await bus.jsm.streams.delete(bus.names.stream("REGISTRY"));
    await ensureTopology(bus, { replicas: 1 });
    await problem(service, /held: RENDERED .* names REGISTRY 2, which ends at 0/);
    expect(await plane.batches("db")).toHaveLength(before.length);
  });
});
