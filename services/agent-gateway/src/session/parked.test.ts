import { create, toBinary } from "@bufbuild/protobuf";
import { bodyDigest } from "@ringwall/rendered";
import { AgentState, StatusPageSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { A, withHead } from "../testing/scenes.ts";
import { fromHex } from "../wire/hex.ts";

describe("a body that was refused at another gateway", () => {
  it("stays parked though this gateway had the agent before", () => {
    const bench = withHead();
    bench.hello();
    const digest = fromHex(bodyDigest(A));
    const session = BigInt(bench.wallMs + 10_000);
    const page = create(StatusPageSchema, {
      gateway: "gw2",
      workloads: [{ workload: "web-1", gateway: "gw2", session, parkedDigests: [digest] }],
    });
    const record = {
      subject: bench.names.status("gw2", 0),
      sequence: 1,
      payload: toBinary(StatusPageSchema, page),
      headers: {},
      timeUnixMs: bench.wallMs,
    };
    bench.step({ kind: "record", reader: "status", record });
    bench.effects = [];
    bench.hello("web-1", { nonce: 44n });
    expect(bench.pushes()).toEqual([]);
    expect(bench.state()).toBe(AgentState.DEGRADED);
  });
});
