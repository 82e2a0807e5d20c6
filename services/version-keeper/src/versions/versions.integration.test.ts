import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { unmarshal } from "@ringwall/rendered";
import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import { ClaimRequestSchema, ClaimResponseSchema } from "@ringwall/wire";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Rig, serviceFile } from "../testing/rig.ts";
import { body, inputsAt, StubRenderer, workloadsOf } from "../testing/stub-renderer.ts";

const PARTITION = 7;
const [A = "", B = ""] = workloadsOf(PARTITION, 2);

describe("policy versions", () => {
  let nats: NatsServer;
  let rig: Rig;
  let renderer: StubRenderer;
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats.stop());
  beforeEach(async () => {
    await nats.kill();
    await nats.wipe();
    await nats.restart();
    rig = await Rig.connect(nats);
    renderer = new StubRenderer(rig.bus);
  });
  afterEach(() => rig.close());

  /** A keeper with a first commit and a REGISTRY of 100 records. */
  async function ready(flags: Readonly<Record<string, string>> = {}) {
    const keeper = await rig.keeper(flags);
    await rig.says(keeper, /no commit/);
    const inputs = await rig.firstCommit();
    await rig.registryTo(100);
    await rig.says(keeper, "");
    return { keeper, inputs };
  }

  it("gives each body change the next version, and the same body none", async () => {
    const { inputs } = await ready();
    const at = (revision: number) => inputsAt(inputs, revision);
    await renderer.emit(PARTITION, {
      inputs: at(1),
      full: true,
      set: { [A]: body(), [B]: body("10.0.0.1") },
    });
    await rig.hasSteps(A, "0>1");
    await renderer.emit(PARTITION, { inputs: at(2), set: { [A]: body("10.0.0.2") } });
    await renderer.emit(PARTITION, { inputs: at(3), set: { [A]: body("10.0.0.2"), [B]: body() } });
    await renderer.emit(PARTITION, { inputs: at(4), set: { [A]: body() } });
    await rig.hasSteps(A, "0>1", "1>2", "2>3");
    await rig.hasSteps(B, "0>1", "1>2");
    const records = await rig.versions(PARTITION);
    expect(records.map(({ record }) => record.case)).toEqual([
      "epochBegin",
      ...Array(4).fill("batch"),
    ]);
    const last = records.at(-1)?.record;
    expect(last?.case === "batch" && last.value.inputs?.registryRevision).toBe(4n);
  });

  it("writes a tombstone for a removal and goes on counting when the workload returns", async () => {
    const { inputs } = await ready();
    const at = (revision: number) => inputsAt(inputs, revision);
    await renderer.emit(PARTITION, {
      inputs: at(1),
      full: true,
      set: { [A]: body(), [B]: body() },
    });
    await renderer.emit(PARTITION, { inputs: at(2), removed: [A] });
    await rig.hasSteps(A, "0>1", "gone@1");
    expect((await rig.policy(A)).error?.code).toBe("not_found");
    await renderer.emit(PARTITION, { inputs: at(3), set: { [A]: body() } });
    await rig.hasSteps(A, "0>1", "gone@1", "1>2");
    await renderer.emit(PARTITION, { inputs: at(4), full: true, set: { [A]: body() } });
    await rig.hasSteps(B, "0>1", "gone@1");
  });

  it("ignores a batch of lower inputs, and then takes only a full one, which it asks for", async () => {
    const { inputs } = await ready({ "want-full-ms": "50" });
    const at = (revision: number) => inputsAt(inputs, revision);
    await renderer.emit(PARTITION, { inputs: at(5), full: true, set: { [A]: body() } });
    await rig.hasSteps(A, "0>1");
    renderer.wanted.length = 0;
    await renderer.emit(PARTITION, { inputs: at(4), set: { [A]: body("10.0.0.1") } });
    await eventually("a full batch is wanted", () => renderer.wanted.includes(PARTITION));
    await renderer.emit(PARTITION, { inputs: at(6), set: { [A]: body("10.0.0.2") } });
    await renderer.emit(PARTITION, { inputs: at(7), full: true, set: { [A]: body("10.0.0.3") } });
    await rig.hasSteps(A, "0>1", "1>2");
    expect((await rig.policy(A)).policy?.inboundRules[0]?.peerCidrs).toEqual(["10.0.0.3/32"]);
  });

  it("acts on the last part of a split batch", async () => {
    const { inputs } = await ready();
    const first = await renderer.message({
      inputs: inputsAt(inputs, 1),
      full: true,
      set: { [A]: body() },
    });
    const second = await renderer.message({
      inputs: inputsAt(inputs, 1),
      full: true,
      set: { [B]: body() },
    });
    first.count = 2;
    second.count = 2;
    second.index = 1;
    await renderer.append(PARTITION, first);
    await renderer.append(PARTITION, first);
    await renderer.append(PARTITION, second);
    await rig.hasSteps(A, "0>1");
    await rig.hasSteps(B, "0>1");
    expect(await rig.versions(PARTITION)).toHaveLength(2);
  });

  it("leaves the version of a refused workload alone and says when it is no longer refused", async () => {
    const { inputs } = await ready();
    const at = (revision: number) => inputsAt(inputs, revision);
    await renderer.emit(PARTITION, { inputs: at(1), full: true, set: { [A]: body() } });
    await renderer.emit(PARTITION, { inputs: at(2), refused: { [A]: "too many peers" } });
    await renderer.emit(PARTITION, { inputs: at(3), set: { [A]: body() } });
    await eventually("three batches", async () => (await rig.versions(PARTITION)).length === 4);
    await rig.hasSteps(A, "0>1");
    const [, , refused, accepted] = await rig.versions(PARTITION);
    expect(refused?.record.value).toMatchObject({ refused: [{ workload: A }] });
    expect(accepted?.record.value).toMatchObject({ accepted: [A] });
  });

  it("advances nothing on a restart", async () => {
    const { keeper, inputs } = await ready();
    await renderer.emit(PARTITION, {
      inputs: inputsAt(inputs, 1),
      full: true,
      set: { [A]: body(), [B]: body("10.0.0.9") },
    });
    await rig.hasSteps(B, "0>1");
    await rig.end(keeper);
    const before = (await rig.bus.jsm.streams.info("rw-VERSIONS")).state.last_seq;
    await rig.says(await rig.keeper(), "");
    await renderer.emit(PARTITION, { inputs: inputsAt(inputs, 2) });
    await eventually("the next batch", async () => (await rig.versions(PARTITION)).length === 3);
    await rig.hasSteps(A, "0>1");
    expect((await rig.bus.jsm.streams.info("rw-VERSIONS")).state.last_seq).toBe(before + 1);
  });

  it("answers policies and history with what changed", async () => {
    const { inputs } = await ready();
    const at = (revision: number) => inputsAt(inputs, revision);
    await renderer.emit(PARTITION, { inputs: at(1), full: true, set: { [A]: body("10.0.0.1") } });
    await renderer.emit(PARTITION, { inputs: at(2), set: { [A]: body("10.0.0.1", "10.0.0.2") } });
    await renderer.emit(PARTITION, { inputs: at(3), removed: [A] });
    await renderer.emit(PARTITION, { inputs: at(4), set: { [A]: body() } });
    await rig.hasSteps(A, "0>1", "1>2", "gone@2", "2>3");
    const history = await rig.history(A);
    expect(
      history.entries.map(({ version, note, changes }) => [Number(version), note, changes.length]),
    ).toEqual([
      [3, "", 1],
      [2, "removed", 0],
      [2, "", 1],
      [1, "", 1],
    ]);
    expect(history.entries[2]?.changes[0]).toMatch(/^add peers .* \+10\.0\.0\.2\/32$/);
    const old = await rig.policy(A, 1);
    expect(old.policy?.version).toBe(1n);
    expect(old.policy?.inboundRules[0]?.peerCidrs).toEqual(["10.0.0.1/32"]);
    expect(old.inputs?.registryRevision).toBe(1n);
    expect((await rig.policy(A, 9)).error?.code).toBe("not_found");
    expect((await rig.policy("nobody")).error?.code).toBe("not_found");
  });

  it("gives a long policy in parts", async () => {
    const { inputs } = await ready();
    const peers = Array.from(
      { length: 40_000 },
      (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
    );
    await renderer.emit(PARTITION, {
      inputs: inputsAt(inputs, 1),
      full: true,
      set: { [A]: body(...peers) },
    });
    await rig.hasSteps(A, "0>1");
    const first = await rig.policy(A);
    expect(first.policy).toBeUndefined();
    expect(first.count).toBe(2);
    const second = await rig.policy(A, 0, 1);
    const policy = unmarshal(Buffer.concat([first.data, second.data]));
    expect(policy.inboundRules[0]?.peerCidrs).toHaveLength(40_000);
  });

  it("says that content is no longer kept, and wants that of a head", async () => {
    const { inputs } = await ready();
    await renderer.emit(PARTITION, {
      inputs: inputsAt(inputs, 1),
      full: true,
      set: { [A]: body() },
    });
    await rig.hasSteps(A, "0>1");
    await rig.bus.jsm.streams.purge("rw-CONTENT");
    expect((await rig.history(A)).entries[0]?.note).toBe("content no longer kept");
    const wanted: string[] = [];
    rig.bus.nc.subscribe(rig.bus.names.internal("content", "want"), {
      callback: () => {
        wanted.push("content");
        void renderer.put(body());
      },
    });
    expect((await rig.policy(A)).policy?.version).toBe(1n);
    expect(wanted).toHaveLength(1);
  });

  it("moves a workload above a claim that contradicts the log, and nobody else", async () => {
    const { inputs } = await ready();
    await renderer.emit(PARTITION, {
      inputs: inputsAt(inputs, 5),
      full: true,
      set: { [A]: body(), [B]: body() },
    });
    await rig.hasSteps(A, "0>1");
    const { epoch, digest } = await rig.policy(A);
    const claim = async (version: number, revision: number, other = digest) => {
      const request = create(ClaimRequestSchema, {
        workload: A,
        epoch,
        version: BigInt(version),
        digest: other,
        inputs: inputsAt(inputs, revision),
      });
      const subject = `${rig.bus.names.internal("version", "claim")}.${PARTITION}`;
      const payload = toBinary(ClaimRequestSchema, request);
      const answer = await rig.bus.nc.request(subject, payload, { timeout: 5_000 });
      return fromBinary(ClaimResponseSchema, answer.data);
    };
    expect(await claim(1, 5)).toMatchObject({ moved: false, head: { version: 1n } });
    expect(await claim(9, 6)).toMatchObject({ error: { code: "refused" } });
    expect(await claim(9, 5)).toMatchObject({ moved: true, head: { version: 10n } });
    expect(await claim(10, 5, new Uint8Array(32))).toMatchObject({ head: { version: 11n } });
    expect(await claim(2 ** 21, 5)).toMatchObject({ error: { code: "held" } });
    await rig.hasSteps(A, "0>1", "1>10", "10>11");
    await rig.hasSteps(B, "0>1");
    await renderer.emit(PARTITION, { inputs: inputsAt(inputs, 6), set: { [A]: body("10.0.0.1") } });
    await rig.hasSteps(A, "0>1", "1>10", "10>11", "11>12");
  });

  it("goes on with another commit and its inputs", async () => {
    const { inputs } = await ready();
    await renderer.emit(PARTITION, {
      inputs: inputsAt(inputs, 1),
      full: true,
      set: { [A]: body() },
    });
    await rig.commit([serviceFile("api", 80)]);
    const next = await rig.headInputs();
    await renderer.emit(PARTITION, { inputs: inputsAt(next, 1), set: { [A]: body("10.0.0.1") } });
    await rig.hasSteps(A, "0>1", "1>2");
  });

  it("wants a full batch when RENDERED was created anew, whether it runs or not", async () => {
    const { keeper, inputs } = await ready({ "want-full-ms": "50" });
    const at = (revision: number) => inputsAt(inputs, revision);
    const set = { [A]: body("10.0.0.1"), [B]: body() };
    await renderer.emit(PARTITION, { inputs: at(1), full: true, set });
    await rig.hasSteps(A, "0>1");
    const recreate = async () => {
      renderer.wanted.length = 0;
      const { config } = await rig.bus.jsm.streams.info("rw-RENDERED");
      await rig.bus.jsm.streams.delete("rw-RENDERED");
      await rig.bus.jsm.streams.add(config);
    };
    await recreate();
    await eventually("a full batch is wanted", () => renderer.wanted.includes(PARTITION));
    await renderer.emit(PARTITION, { inputs: at(2), set: { [A]: body("10.0.0.2") } });
    await renderer.emit(PARTITION, { inputs: at(3), full: true, set: { [A]: body("10.0.0.3") } });
    await rig.hasSteps(A, "0>1", "1>2");
    await rig.hasSteps(B, "0>1", "gone@1");
    await rig.end(keeper);
    await recreate();
    await rig.says(await rig.keeper({ "want-full-ms": "50" }), "");
    await eventually("a full batch is wanted", () => renderer.wanted.includes(PARTITION));
    await renderer.emit(PARTITION, { inputs: at(4), full: true, set: { [A]: body("10.0.0.3") } });
    await renderer.emit(PARTITION, { inputs: at(5), set: { [A]: body("10.0.0.4") } });
    await rig.hasSteps(A, "0>1", "1>2", "2>3");
  });

  it("wants a full batch when batches were dropped before it read them", async () => {
    const { keeper, inputs } = await ready({ "want-full-ms": "50" });
    const at = (revision: number) => inputsAt(inputs, revision);
    await renderer.emit(PARTITION, {
      inputs: at(1),
      full: true,
      set: { [A]: body(), [B]: body() },
    });
    await rig.hasSteps(A, "0>1");
    await rig.end(keeper);
    await renderer.emit(PARTITION, { inputs: at(2), set: { [A]: body("10.0.0.2") } });
    await renderer.emit(PARTITION, { inputs: at(3), set: { [B]: body("10.0.0.3") } });
    const filter = rig.bus.names.rendered(PARTITION);
    await rig.bus.jsm.streams.purge("rw-RENDERED", { filter, keep: 1 });
    renderer.wanted.length = 0;
    await rig.says(await rig.keeper({ "want-full-ms": "50" }), "");
    await eventually("a full batch is wanted", () => renderer.wanted.includes(PARTITION));
    await rig.hasSteps(B, "0>1");
    const set = { [A]: body("10.0.0.2"), [B]: body("10.0.0.3") };
    await renderer.emit(PARTITION, { inputs: at(3), full: true, set });
    await rig.hasSteps(A, "0>1", "1>2");
    await rig.hasSteps(B, "0>1", "1>2");
  });
});
