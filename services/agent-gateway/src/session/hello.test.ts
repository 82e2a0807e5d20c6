import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { apply, bodyDigest, empty, withVersion } from "@ringwall/rendered";
import {
  AgentState,
  ClaimRequestSchema,
  ClaimResponseSchema,
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
  SessionTakenSchema,
} from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { type Bench, claim } from "../testing/bench.ts";
import { advance, batch, body, commit, epoch, inputsAt, registered } from "../testing/records.ts";
import { A, B, C, step, store, synced, withHead } from "../testing/scenes.ts";
import { fromHex } from "../wire/hex.ts";

describe("a Hello", () => {
  it("is answered in the same step with HelloAck, announcement and snapshot", () => {
    const bench = withHead();
    bench.effects = [];
    bench.hello();
    expect(bench.downs().map(({ body: { case: kind } }) => kind)).toEqual(["helloAck", "snapshot"]);
    expect(bench.downs().map(({ seq }) => seq)).toEqual([1n, 2n]);
    const taken = bench.all("publish").find(({ subject }) => subject === "rw.gateway.session");
    expect(fromBinary(SessionTakenSchema, taken?.payload ?? new Uint8Array())).toMatchObject({
      workload: "web-1",
      gateway: "gw1",
    });
  });

  it("gets a session above its last one and above the clock", () => {
    const bench = withHead();
    expect(bench.hello()).toBe(BigInt(bench.wallMs));
    const ahead = BigInt(bench.wallMs) + 5_000n;
    expect(bench.hello("web-1", { nonce: 43n, lastSession: ahead })).toBe(ahead + 1n);
  });

  it("that is repeated before the answer can have arrived is answered once", () => {
    const bench = withHead();
    bench.hello();
    bench.hello();
    expect(bench.downs()).toHaveLength(2);
    bench.monotonicMs += 1000;
    bench.hello();
    expect(bench.downs()).toHaveLength(4);
  });

  it("sends nothing when the agent has the head", () => {
    const bench = withHead();
    bench.hello("web-1", claim(A, 1));
    expect(bench.pushes()).toEqual([]);
    expect(bench.state()).toBe(AgentState.SYNCED);
  });

  it("gets one coalesced delta from a version that it has", () => {
    const bench = withHead();
    step(bench, 1, 2, [A, B]);
    step(bench, 2, 3, [B, C]);
    bench.hello("web-1", claim(A, 1));
    const { body: sent, headVersion } = bench.push();
    expect(headVersion).toBe(3n);
    expect(sent.case === "delta" && apply(withVersion(A, 1n), sent.value)).toEqual(
      withVersion(C, 3n),
    );
  });

  it("gets a snapshot when the body that it names is nowhere", () => {
    const bench = withHead();
    const lost = body("10.9.9.9/32");
    step(bench, 1, 2, [A, B]);
    bench.hello("web-1", claim(lost, 1));
    expect(bench.pushes()).toEqual([]);
    for (const { tag } of bench.all("read-last")) {
      bench.step({ kind: "read", tag, record: undefined });
    }
    expect(bench.push().body.case).toBe("snapshot");
  });

  it("gets a snapshot when its stored policy is not in force", () => {
    const bench = withHead();
    bench.hello("web-1", { ...claim(A, 1), digest: new Uint8Array() });
    expect(bench.push().body.case).toBe("snapshot");
  });

  it("is brought into a new epoch with an empty delta when it has the body", () => {
    const bench = withHead();
    const heads = [{ workload: "web-1", version: 4n, digest: fromHex(bodyDigest(A)) }];
    bench.feed(epoch("rw", "web-1", 9n, { heads, inputs: inputsAt(1) }));
    bench.hello("web-1", claim(A, 1));
    const { body: sent, epoch: at } = bench.push();
    expect(at).toBe(9n);
    expect(sent.case === "delta" && sent.value).toMatchObject({ toVersion: 4n, changes: [] });
  });

  it("of an agent that is too old gets nothing and says so", () => {
    const bench = withHead();
    bench.hello("web-1", { schemaLevel: 0 });
    expect(bench.pushes()).toEqual([]);
    expect(bench.status().detail).toContain("agent too old");
  });

  it("with an id out of grammar is counted and dropped", () => {
    const bench = withHead();
    expect(() => bench.hello("Web.1")).toThrow("no helloAck");
  });

  it("reports what the host serves, existing workloads only if it has a policy", () => {
    const bench = withHead();
    bench.hello("web-1", { inventory: { addresses: ["10.0.0.5"] } });
    bench.hello("web-2", { ...claim(A, 3), inventory: { addresses: ["10.0.0.6"] } });
    const reports = bench
      .all("request")
      .map(({ payload }) => fromBinary(ReportWorkloadRequestSchema, payload));
    expect(reports).toMatchObject([
      { id: "web-1", existingOnly: false, addresses: ["10.0.0.5"] },
      { id: "web-2", existingOnly: true },
    ]);
    expect(reports.every(({ labels }) => Object.keys(labels).length === 0)).toBe(true);
  });

  it("that reported before its workload was known reports again once it is", () => {
    const bench = withHead();
    bench.hello("web-2", { ...claim(A, 3), inventory: { addresses: ["10.0.0.6"] } });
    const refusal = { error: { code: "not_found", message: "web-2 is not known" } };
    bench.step({
      kind: "response",
      tag: "report:web-2",
      payload: toBinary(
        ReportWorkloadResponseSchema,
        create(ReportWorkloadResponseSchema, refusal),
      ),
    });
    bench.effects = [];
    bench.wait(20_000);
    expect(bench.all("request")).toEqual([]);
    bench.feed(registered("rw", "web-2"));
    bench.wait(200);
    expect(bench.all("request").map(({ tag }) => tag)).toEqual(["report:web-2"]);
  });
});

describe("what is withheld", () => {
  it("is everything while the control plane is held", () => {
    const bench = withHead();
    bench.feed(batch("rw", "web-1", { inputs: inputsAt(9) }));
    bench.wait(1000);
    const info = { createdUnixNs: 1n, firstSequence: 1 };
    bench.step({ kind: "stream-info", tag: "ground:CONFIG", ...info, lastSequence: 1 });
    bench.step({ kind: "stream-info", tag: "ground:REGISTRY", ...info, lastSequence: 1 });
    bench.hello();
    expect(bench.pushes()).toEqual([]);
    expect(bench.last("web-1", "helloAck").body.value).toMatchObject({ state: "HELD" });
    expect(bench.status().detail).toContain("names commit 9, CONFIG ends at 1");
    for (let sequence = 2; sequence < 10; sequence += 1) bench.feed(commit("rw", sequence));
    expect(bench.pushes()).toHaveLength(1);
  });

  it("waits without a word while a reader of ours is behind", () => {
    const bench = withHead();
    bench.feed(batch("rw", "web-1", { inputs: inputsAt(2) }));
    bench.hello();
    expect(bench.pushes()).toEqual([]);
    bench.feed(commit("rw", 2));
    expect(bench.pushes()).toHaveLength(1);
  });

  it("is held for an agent that names a commit which CONFIG does not have", () => {
    const bench = withHead();
    bench.hello("web-1", { ...claim(B, 1), inputs: { ...inputsAt(1), commitId: fromHex("ab") } });
    expect(bench.state()).toBe(AgentState.HELD);
    expect(bench.pushes()).toEqual([]);
  });

  it("is held for an agent whose inputs are above the log's", () => {
    const bench = withHead();
    bench.feed(commit("rw", 2));
    bench.hello("web-1", { ...claim(B, 1), inputs: inputsAt(2) });
    expect(bench.state()).toBe(AgentState.HELD);
    bench.feed(batch("rw", "web-1", { inputs: inputsAt(2) }));
    expect(bench.all("read-last").some(({ stream }) => stream === "VERSIONS")).toBe(true);
  });

  it.each([
    ["another life of the stream", 7000n, true],
    ["this one", 60_500n, false],
  ])("is held, or not, for an agent whose registry is of %s", (_what, registryTimeUnixMs, held) => {
    const bench = withHead();
    bench.feed(batch("rw", "web-1", { inputs: inputsAt(1, 40) }));
    bench.step({
      kind: "record",
      reader: "registry-owners",
      record: {
        subject: bench.names.registryOwner(0),
        sequence: 24,
        payload: new Uint8Array(),
        headers: {},
        timeUnixMs: 60_000,
      },
    });
    bench.hello("web-1", { ...claim(A, 1), inputs: { ...inputsAt(1, 30), registryTimeUnixMs } });
    const { state, detail } = bench.status();
    expect(state === AgentState.HELD).toBe(held);
    expect(detail.includes("agent has revision 30 of another REGISTRY")).toBe(held);
  });

  it("is held for a claim far above the head", () => {
    const bench = withHead();
    bench.hello("web-1", claim(A, 2 ** 20 + 2));
    expect(bench.state()).toBe(AgentState.HELD);
  });

  it("is kept from an agent with a policy whose workload the registry does not know", () => {
    const bench = withHead();
    bench.hello("web-9", claim(A, 1));
    expect(bench.state("web-9")).toBe(AgentState.UNKNOWN);
    bench.feed(registered("rw", "web-9"));
    expect(bench.state("web-9")).toBe(AgentState.PENDING);
  });

  it("is kept from the agent of a removed workload", () => {
    const bench = synced();
    bench.feed(batch("rw", "web-1", { tombstones: [{ workload: "web-1", version: 1n }] }));
    expect(bench.state()).toBe(AgentState.REMOVED);
    expect(bench.pushes()).toHaveLength(1);
    step(bench, 1, 2, [empty(), B]);
    expect(bench.push().headVersion).toBe(2n);
  });
});

describe("a claim that contradicts the log", () => {
  const answer = (bench: Bench, sequence: number) =>
    bench.step({
      kind: "read",
      tag: bench.all("read-last").findLast(({ stream }) => stream === "VERSIONS")?.tag ?? "",
      record: { subject: "", sequence, payload: new Uint8Array(), headers: {}, timeUnixMs: 0 },
    });

  it("is put to the keeper once the reader has caught up with the leader", () => {
    const bench = withHead();
    store(bench, B);
    bench.hello("web-1", claim(B, 1));
    expect(bench.all("request")).toEqual([]);
    answer(bench, 2);
    const [request] = bench.all("request");
    expect(fromBinary(ClaimRequestSchema, request?.payload ?? new Uint8Array())).toMatchObject({
      workload: "web-1",
      version: 1n,
    });
    const tag = request?.tag ?? "";
    const payload = toBinary(ClaimResponseSchema, create(ClaimResponseSchema, { moved: true }));
    bench.step({ kind: "response", tag, payload });
    bench.feed(advance("rw", "web-1", { version: 1, policy: A }, { version: 2, policy: A }));
    expect(bench.push().headVersion).toBe(2n);
  });

  it("is no contradiction when the reader is only behind", () => {
    const bench = withHead();
    bench.hello("web-1", claim(B, 2));
    answer(bench, 3);
    expect(bench.all("request")).toEqual([]);
    step(bench, 1, 2, [A, B]);
    expect(bench.state()).toBe(AgentState.SYNCED);
    expect(bench.pushes()).toEqual([]);
  });
});
