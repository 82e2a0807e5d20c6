import { create, toBinary } from "@bufbuild/protobuf";
import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import {
  AcceptStateRequestSchema,
  AcceptStateResponseSchema,
  type Inputs,
  InputsSchema,
  StatusPageSchema,
} from "@ringwall/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Rig, serviceFile } from "../testing/rig.ts";
import { body, inputsAt, StubRenderer, workloadsOf } from "../testing/stub-renderer.ts";

const PARTITION = 3;
const [A = ""] = workloadsOf(PARTITION, 1);
const FAST = {
  "checkpoint-look-ms": "50",
  "checkpoint-records": "1",
  "held-check-ms": "100",
  "want-full-ms": "50",
};

describe("held", () => {
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

  /** A keeper with a commit, a registry and one version of A. */
  async function running() {
    const keeper = await rig.keeper(FAST);
    await rig.says(keeper, /no commit/);
    const inputs = await rig.firstCommit();
    await rig.registryTo(20);
    await renderer.emit(PARTITION, {
      inputs: inputsAt(inputs, 10),
      full: true,
      set: { [A]: body("10.0.0.1") },
    });
    await rig.hasSteps(A, "0>1");
    return { keeper, inputs };
  }

  function accept(expected: number) {
    return rig.call("accept", AcceptStateRequestSchema, AcceptStateResponseSchema, {
      expect: BigInt(expected),
      author: "op",
    });
  }

  async function hasCheckpoints(kind: "config" | "version") {
    await eventually("a checkpoint", async () => {
      const filter = `rw.checkpoint.${kind}.>`;
      const { state } = await rig.bus.jsm.streams.info("rw-CHECKPOINTS", {
        subjects_filter: filter,
      });
      return Object.keys(state.subjects ?? {}).length > 0;
    });
  }

  it("says that CONFIG has no commit when the whole store was wiped, and starts nothing", async () => {
    const { keeper } = await running();
    await rig.end(keeper);
    await nats.kill();
    await nats.wipe();
    await rig.serverBack();
    const again = await rig.keeper(FAST);
    await rig.says(again, "CONFIG has no commit");
    expect((await rig.bus.jsm.streams.info("rw-VERSIONS")).state.messages).toBe(0);
  });

  it("is held when the store is wiped under it, because it knows what was there", async () => {
    const { keeper } = await running();
    await nats.kill();
    await nats.wipe();
    await rig.serverBack();
    await rig.says(keeper, /names generation|CONFIG does not have it/);
    const refused = await rig.commit([serviceFile("web", 80)]);
    expect(refused.result).toMatchObject({ case: "error", value: { code: "held" } });
  });

  it("is held when CONFIG lost a commit that VERSIONS names, until the state is accepted", async () => {
    const { keeper, inputs } = await running();
    await rig.end(keeper);
    await rig.bus.jsm.streams.delete("rw-CONFIG");
    const again = await rig.keeper(FAST);
    await rig.says(again, /names generation/);
    expect((await accept(1)).error?.code).toBe("conflict");
    const accepted = await accept(0);
    expect(accepted.error).toBeUndefined();
    expect(accepted.inputs?.generation).toBeGreaterThan(inputs.generation);
    await rig.says(again, "CONFIG has no commit");
    await rig.commit([serviceFile("web", 8443)]);
    await rig.says(again, "");
    const next = await rig.headInputs();
    expect(next.generation).toBeGreaterThan(inputs.generation);
    await renderer.emit(PARTITION, { inputs: inputsAt(next, 3), set: { [A]: body("10.0.0.2") } });
    await rig.hasSteps(A, "0>1", "1>2");
  });

  it("is lifted by a restore of CONFIG", async () => {
    const { keeper } = await running();
    await rig.end(keeper);
    await nats.kill();
    const copy = await nats.backup();
    await rig.serverBack();
    await rig.bus.jsm.streams.delete("rw-CONFIG");
    const again = await rig.keeper(FAST);
    await rig.says(again, /names generation/);
    await nats.kill();
    await nats.restore(copy);
    await rig.serverBack();
    await rig.says(again, "");
    await rig.hasSteps(A, "0>1");
  });

  it("is held when REGISTRY ends below a revision that VERSIONS names", async () => {
    const { keeper, inputs } = await running();
    await rig.end(keeper);
    await rig.bus.jsm.streams.delete("KV_rw-REGISTRY");
    const again = await rig.keeper({ ...FAST, "checkpoint-look-ms": "100000" });
    await rig.says(again, /REGISTRY/);
    const accepted = await accept(1);
    expect(accepted.inputs?.generation).toBeGreaterThan(inputs.generation);
    await rig.says(again, "");
  });

  it("is held when REGISTRY was created anew, even if it has grown past what is named", async () => {
    const { keeper } = await running();
    await hasCheckpoints("version");
    await hasCheckpoints("config");
    await rig.end(keeper);
    await rig.bus.jsm.streams.delete("KV_rw-REGISTRY");
    const again = await rig.keeper(FAST);
    await rig.says(again, /REGISTRY/);
    await rig.registryTo(40);
    await rig.says(again, /REGISTRY was created anew/);
  });

  it("is held when the head commit's blob is lost, and a later commit supersedes it", async () => {
    const { keeper } = await running();
    await rig.end(keeper);
    await rig.bus.jsm.streams.purge("rw-BLOBS");
    const again = await rig.keeper(FAST);
    await rig.says(again, /head commit 1 can't be read: blob .* is not stored/);
    await renderer.emit(PARTITION, { inputs: await rig.headInputs() });
    const response = await rig.commit([serviceFile("web", 444)]);
    expect(response.result.case).toBe("accepted");
    await rig.says(again, "");
  });

  it("overrules commits that only agents name", async () => {
    const { keeper, inputs } = await running();
    expect((await accept(1)).error?.code).toBe("refused");
    const lost: Inputs = create(InputsSchema, {
      generation: inputs.generation + 5n,
      configSequence: 9n,
      commitId: new Uint8Array(32).fill(7),
    });
    const page = create(StatusPageSchema, {
      gateway: "g",
      workloads: [{ workload: A, inputs: lost }],
    });
    const payload = toBinary(StatusPageSchema, page);
    await rig.bus.nc.request(rig.bus.names.status("g", 0), payload, { timeout: 5_000 });
    const accepted = await accept(1);
    expect(accepted.inputs?.generation).toBeGreaterThan(inputs.generation + 5n);
    expect((await accept(1)).error?.code).toBe("refused");
    await rig.says(keeper, "");
  });
});
