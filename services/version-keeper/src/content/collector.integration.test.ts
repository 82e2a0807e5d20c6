import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Rig } from "../testing/rig.ts";
import { body, inputsAt, StubRenderer, workloadsOf } from "../testing/stub-renderer.ts";

const PARTITION = 5;
const [A = ""] = workloadsOf(PARTITION, 1);

describe("content collection", () => {
  let nats: NatsServer;
  let rig: Rig;
  let renderer: StubRenderer;
  beforeEach(async () => {
    nats = await startNats();
    rig = await Rig.connect(nats);
    renderer = new StubRenderer(rig.bus);
  });
  afterEach(async () => {
    await rig.close();
    await nats.stop();
  });

  async function stored(): Promise<Set<string>> {
    const { state } = await rig.bus.jsm.streams.info("rw-CONTENT", { subjects_filter: ">" });
    return new Set(Object.keys(state.subjects ?? {}).map((subject) => subject.split(".")[2] ?? ""));
  }

  it("deletes what nothing needs, keeps heads, the last 8 versions and their sets", async () => {
    const keeper = await rig.keeper({
      "collect-ms": "200",
      "collect-after-ms": "1",
      "keep-bodies-ms": "1",
      "held-check-ms": "100",
    });
    await rig.says(keeper, /no commit/);
    const inputs = await rig.firstCommit();
    await rig.registryTo(100);
    const peers = Array.from({ length: 12 }, (_, n) => `10.0.0.${n + 1}`);
    for (const [n, peer] of peers.entries()) {
      const set = { [A]: body(peer) };
      await renderer.emit(PARTITION, { inputs: inputsAt(inputs, n + 1), full: n === 0, set });
    }
    await renderer.put(body("10.9.9.9"));
    await eventually("12 versions", async () => (await rig.steps(A)).length === 12);
    await eventually(
      "a smaller CONTENT",
      async () => (await stored()).size,
      (size) => size === 16,
      60_000,
    );
    const history = await rig.history(A);
    const notes = history.entries.map(({ version, note }) => `${version} ${note}`.trim());
    expect(notes.slice(0, 8)).toEqual([
      "12",
      "11",
      "10",
      "9",
      "8",
      "7",
      "6",
      "5 content no longer kept",
    ]);
    expect((await rig.policy(A, 5)).policy?.version).toBe(5n);
    expect((await rig.policy(A, 4)).error?.message).toMatch(/no longer kept/);
    const rounds = () => rig.lines.filter((line) => line.includes("content was collected")).length;
    const before = rounds();
    await eventually("three more rounds", () => rounds() >= before + 3);
    expect((await stored()).size).toBe(16);
  });
});
