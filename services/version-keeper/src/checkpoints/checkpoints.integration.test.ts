import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Rig } from "../testing/rig.ts";
import { body, inputsAt, StubRenderer, workloadsOf } from "../testing/stub-renderer.ts";

const PARTITION = 11;
const [A = "", B = ""] = workloadsOf(PARTITION, 2);
const FAST = {
  "checkpoint-look-ms": "50",
  "checkpoint-records": "5",
  "held-check-ms": "100",
  "want-full-ms": "50",
  "trim-after-ms": "1",
};

describe("checkpoints, trimming and epochs", () => {
  let nats: NatsServer;
  let rig: Rig;
  let renderer: StubRenderer;
  let revision = 0;
  beforeEach(async () => {
    revision = 0;
    nats = await startNats();
    rig = await Rig.connect(nats);
    renderer = new StubRenderer(rig.bus);
  });
  afterEach(async () => {
    await rig.close();
    await nats.stop();
  });

  async function running() {
    const keeper = await rig.keeper(FAST);
    await rig.says(keeper, /no commit/);
    await rig.firstCommit();
    await rig.registryTo(1_000);
    await rig.says(keeper, "");
    return keeper;
  }

  /** Emits `count` batches that each change A. */
  async function change(count: number, full = false) {
    const inputs = await rig.headInputs();
    for (let n = 0; n < count; n += 1) {
      revision += 1;
      const peer = `10.0.${revision >> 8}.${revision & 255}`;
      const set = { [A]: body(peer), ...(full ? { [B]: body() } : {}) };
      await renderer.emit(PARTITION, { inputs: inputsAt(inputs, revision), full, set });
    }
  }

  async function checkpoints(): Promise<string[]> {
    const { state } = await rig.bus.jsm.streams.info("rw-CHECKPOINTS", {
      subjects_filter: `rw.checkpoint.version.${PARTITION}.>`,
    });
    return Object.keys(state.subjects ?? {}).sort();
  }

  /** A workload's head, as soon as somebody answers. */
  async function head(workload: string) {
    const { policy, epoch } = await eventually(
      "an answer",
      () => rig.policy(workload).catch(() => undefined),
      (answer) => answer?.policy !== undefined,
      60_000,
    ).then((answer) => ({ policy: answer?.policy, epoch: answer?.epoch ?? 0n }));
    return { version: Number(policy?.version), epoch };
  }

  it("writes a and b in turn, trims below the older one, and starts from them", async () => {
    const keeper = await running();
    await change(1, true);
    await eventually("checkpoint a", async () => (await checkpoints()).length === 1);
    for (let round = 0; round < 4; round += 1) {
      await change(8);
      await stepsTo(revision);
    }
    await eventually("checkpoint b", async () => (await checkpoints()).length === 2);
    await eventually("a trimmed log", async () => (await rig.versions(PARTITION)).length < 30);
    const before = await head(A);
    expect(before.version).toBe(33);
    await rig.end(keeper);
    await rig.says(await rig.keeper(FAST), "");
    expect(await head(A)).toEqual(before);
    expect((await head(B)).version).toBe(1);
    await change(1);
    await eventually("the next version", async () => (await head(A)).version === 34);
  });

  /** The steps that the log still has, waited for until the last is `version`. */
  async function stepsTo(version: number): Promise<string[]> {
    return eventually(
      `version ${version}`,
      () => rig.steps(A),
      (steps) => steps.at(-1) === `${version - 1}>${version}`,
      60_000,
    );
  }

  it("begins an epoch with the checkpoint's heads when VERSIONS was created anew", async () => {
    const keeper = await running();
    await change(3, true);
    await stepsTo(3);
    await eventually("a checkpoint of version 3", async () => (await checkpoints()).length > 0);
    await change(6);
    await stepsTo(9);
    await eventually("both checkpoints", async () => (await checkpoints()).length === 2);
    const before = await head(A);
    await rig.end(keeper);
    await rig.bus.jsm.streams.delete("rw-VERSIONS");
    await rig.says(await rig.keeper(FAST), "");
    const after = await eventually(
      "a new epoch",
      () => head(A),
      ({ epoch }) => epoch > before.epoch,
    );
    expect(after.version).toBeGreaterThanOrEqual(3);
    await eventually("a full batch is wanted", () => renderer.wanted.includes(PARTITION));
    await change(1, true);
    await eventually("the next version", async () => (await head(A)).version === after.version + 1);
    expect((await head(B)).version).toBe(1);
  });

  it("begins an epoch when the log went back, even under a running keeper", async () => {
    const keeper = await running();
    await change(2, true);
    await stepsTo(2);
    await nats.kill();
    const copy = await nats.backup();
    await rig.serverBack();
    await rig.says(keeper, "");
    await change(3);
    await eventually("version 5", async () => (await head(A)).version === 5);
    const before = await head(A);
    await nats.kill();
    await nats.restore(copy);
    await rig.serverBack();
    const after = await eventually(
      "a new epoch",
      () => head(A),
      ({ epoch }) => epoch > before.epoch,
      60_000,
    );
    expect(after.version).toBe(5);
  });

  it("hands a partition over when its keeper ends, and advances nothing by that", async () => {
    const first = await running();
    await change(1, true);
    await stepsTo(1);
    const second = await rig.keeper(FAST);
    await rig.says(second, "");
    await rig.end(first);
    await change(1);
    await stepsTo(2);
    expect(await rig.steps(A)).toEqual(["0>1", "1>2"]);
    const epochs = (await rig.versions(PARTITION)).filter(
      ({ record }) => record.case === "epochBegin",
    );
    expect(epochs).toHaveLength(1);
  });
});
