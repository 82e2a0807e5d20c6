import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { partitionOf } from "@ringwall/bus";
import { apply, bodyDigest, empty, withVersion } from "@ringwall/rendered";
import {
  AckStatus,
  AgentState,
  ClaimRequestSchema,
  ClaimResponseSchema,
  ContentWantSchema,
  LeaseBatchSchema,
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
  SessionTakenSchema,
  StatusPageSchema,
} from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { Bench, claim } from "./testing/bench.ts";
import {
  advance,
  batch,
  body,
  commit,
  epoch,
  inputsAt,
  registered,
  stored,
} from "./testing/records.ts";
import { fromHex } from "./wire/hex.ts";

const A = body("10.0.0.1/32");
const B = body("10.0.0.2/32");
const C = body("10.0.0.3/32");

function store(bench: Bench, ...policies: (typeof A)[]): void {
  for (const policy of policies) {
    for (const entry of stored("rw", policy)) bench.feed(entry);
  }
}

/** A gateway whose log has version 1 with body A. */
function withHead(): Bench {
  const bench = Bench.ready();
  store(bench, A);
  bench.feed(advance("rw", "web-1", undefined, { version: 1, policy: A }));
  return bench;
}

/** A gateway with an agent that has acknowledged version 1. */
function synced(): Bench {
  const bench = withHead();
  bench.hello();
  bench.ack(bench.push());
  return bench;
}

function step(bench: Bench, from: number, to: number, bodies: readonly [typeof A, typeof A]): void {
  store(bench, bodies[1]);
  const [before, after] = bodies;
  bench.feed(
    advance("rw", "web-1", { version: from, policy: before }, { version: to, policy: after }),
  );
}

describe("a gateway that starts", () => {
  it("hears no agent before it has read its logs", () => {
    const bench = new Bench();
    bench.step({ kind: "start" });
    const heard = () => bench.all("listen").some(({ listener }) => listener === "hello");
    expect(heard()).toBe(false);
    bench.feed(commit("rw", 1));
    bench.read();
    expect(heard()).toBe(true);
  });

  it("is not ready, and says so, while CONFIG has no commit", () => {
    const bench = new Bench();
    bench.step({ kind: "start" });
    bench.read();
    expect(bench.all("ready").at(-1)).toMatchObject({
      ready: false,
      reason: "held: CONFIG has no commit",
    });
    bench.feed(commit("rw", 1));
    expect(bench.all("ready").at(-1)).toMatchObject({ ready: true });
  });
});

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
});

describe("an agent in step", () => {
  it("is PENDING until it acknowledges the head, then SYNCED", () => {
    const bench = withHead();
    bench.hello();
    expect(bench.state()).toBe(AgentState.PENDING);
    bench.ack(bench.push());
    expect(bench.status()).toMatchObject({ state: AgentState.SYNCED, ackedVersion: 1n });
  });

  it("gets each advance as a delta, pipelined", () => {
    const bench = synced();
    step(bench, 1, 2, [A, B]);
    step(bench, 2, 3, [B, C]);
    const sent = bench.pushes().slice(1);
    expect(sent.map(({ body: { case: kind }, seq }) => [kind, seq])).toEqual([
      ["delta", 3n],
      ["delta", 4n],
    ]);
    for (const down of sent) bench.ack(down);
    expect(bench.state()).toBe(AgentState.SYNCED);
  });

  it("that is slow gets what it missed as one delta", () => {
    const bench = synced();
    const bodies = Array.from({ length: 12 }, (_unused, index) => body(`10.0.1.${index}/32`));
    bodies.forEach((next, index) => {
      step(bench, index + 1, index + 2, [bodies[index - 1] ?? A, next]);
    });
    const window = bench.pushes().slice(1);
    expect(window).toHaveLength(4);
    for (const down of window) bench.ack(down);
    const last = bench.push();
    expect(last.headVersion).toBe(13n);
    expect(last.body.case === "delta" && last.body.value.fromVersion).toBe(5n);
  });

  it("that acknowledges only a later push has taken the earlier ones", () => {
    const bench = synced();
    step(bench, 1, 2, [A, B]);
    step(bench, 2, 3, [B, C]);
    bench.ack(bench.push());
    expect(bench.state()).toBe(AgentState.SYNCED);
  });

  it("whose acknowledgement was lost makes up for it with its heartbeat", () => {
    const bench = withHead();
    const session = bench.hello();
    const { epoch: at, headVersion: version, digest, seq } = bench.push();
    bench.up("web-1", session, {
      case: "heartbeat",
      value: { epoch: at, version, digest, lastSeq: seq },
    });
    expect(bench.state()).toBe(AgentState.SYNCED);
  });

  it("shares the bytes of a delta with every agent that takes the same step", () => {
    const bench = Bench.ready();
    const workloads = ["web-1", ...samePartition("web-1", 3)];
    for (const workload of workloads) bench.feed(registered("rw", workload));
    store(bench, A, B);
    const steps = (from: number, digests: readonly [Uint8Array, Uint8Array]) =>
      batch("rw", "web-1", {
        steps: [
          {
            fromDigest: digests[0],
            toDigest: digests[1],
            advances: workloads.map((workload) => ({
              workload,
              fromVersion: BigInt(from),
              toVersion: BigInt(from + 1),
            })),
          },
        ],
      });
    bench.feed(steps(0, [new Uint8Array(), fromHex(bodyDigest(A))]));
    for (const workload of workloads) {
      bench.hello(workload);
      bench.ack(bench.push(workload));
    }
    bench.feed(steps(1, [fromHex(bodyDigest(A)), fromHex(bodyDigest(B))]));
    for (const workload of workloads) {
      const { body: sent } = bench.push(workload);
      expect(sent.case === "delta" && apply(withVersion(A, 1n), sent.value).version).toBe(2n);
    }
  });
});

describe("an agent out of step", () => {
  it("gets a snapshot of the head, and old acknowledgements mean nothing", () => {
    const bench = synced();
    step(bench, 1, 2, [A, B]);
    step(bench, 2, 3, [B, C]);
    const [first, second] = bench.pushes().slice(1);
    if (first === undefined || second === undefined) throw new Error("two deltas were due");
    bench.ack(first, AckStatus.OUT_OF_STEP);
    const snapshot = bench.push();
    expect(snapshot).toMatchObject({ headVersion: 3n, body: { case: "snapshot" } });
    bench.ack(second, AckStatus.OUT_OF_STEP);
    expect(bench.push()).toEqual(snapshot);
    bench.ack(snapshot);
    expect(bench.state()).toBe(AgentState.SYNCED);
  });

  it("again and again is repaired at a slowing pace and shown as DEGRADED", () => {
    const bench = withHead();
    bench.hello();
    bench.ack(bench.push(), AckStatus.OUT_OF_STEP, "FAILED: disk full");
    bench.ack(bench.push(), AckStatus.OUT_OF_STEP, "FAILED: disk full");
    const sent = bench.pushes().length;
    bench.wait(1000);
    expect(bench.pushes()).toHaveLength(sent + 1);
    bench.ack(bench.push(), AckStatus.OUT_OF_STEP, "FAILED: disk full");
    expect(bench.status()).toMatchObject({
      state: AgentState.DEGRADED,
      detail: "FAILED: disk full",
    });
    bench.wait(1000);
    expect(bench.pushes()).toHaveLength(sent + 1);
  });

  it("is noticed by a heartbeat below what was sent with nothing in flight", () => {
    const bench = synced();
    const { session } = bench.push();
    bench.up("web-1", session, { case: "heartbeat", value: { lastSeq: 2n } });
    expect(bench.pushes()).toHaveLength(2);
    expect(bench.push().body.case).toBe("snapshot");
  });
});

describe("a refused body", () => {
  it("is sent once more as a snapshot, then parked", () => {
    const bench = synced();
    step(bench, 1, 2, [A, B]);
    bench.ack(bench.push(), AckStatus.REFUSED, "nft says no");
    const snapshot = bench.push();
    expect(snapshot).toMatchObject({ headVersion: 2n, body: { case: "snapshot" } });
    bench.ack(snapshot, AckStatus.REFUSED, "nft says no");
    expect(bench.push()).toEqual(snapshot);
    expect(bench.status()).toMatchObject({
      state: AgentState.DEGRADED,
      detail: "parked: nft says no",
      ackedVersion: 1n,
    });
    expect(bench.status().parkedDigests.map((digest) => [...digest])).toEqual([
      [...fromHex(bodyDigest(B))],
    ]);
  });

  it("is parked at once when a snapshot was refused", () => {
    const bench = withHead();
    bench.hello();
    bench.ack(bench.push(), AckStatus.REFUSED, "no");
    expect(bench.pushes()).toHaveLength(1);
    expect(bench.state()).toBe(AgentState.DEGRADED);
  });

  it("is not sent again after a reconnect, by the agent's word or by STATUS", () => {
    const bench = withHead();
    bench.hello("web-1", { refusedDigests: [fromHex(bodyDigest(A))] });
    expect(bench.pushes()).toEqual([]);
    bench.hello("web-1", { nonce: 43n });
    expect(bench.pushes()).toEqual([]);
  });

  it("gives way to a head with another body, as a delta from what is still applied", () => {
    const bench = synced();
    step(bench, 1, 2, [A, B]);
    bench.ack(bench.push(), AckStatus.REFUSED);
    bench.ack(bench.push(), AckStatus.REFUSED);
    step(bench, 2, 3, [B, C]);
    const { body: sent } = bench.push();
    expect(sent.case === "delta" && sent.value.fromVersion).toBe(1n);
    bench.ack(bench.push());
    expect(bench.state()).toBe(AgentState.SYNCED);
  });

  it("is never sent as a delta again when the head returns to it", () => {
    const bench = synced();
    step(bench, 1, 2, [A, B]);
    const refused = bench.push();
    step(bench, 2, 3, [B, C]);
    bench.ack(refused, AckStatus.REFUSED);
    bench.ack(bench.push());
    step(bench, 3, 4, [C, B]);
    expect(bench.push()).toMatchObject({ headVersion: 4n, body: { case: "snapshot" } });
    bench.ack(bench.push(), AckStatus.REFUSED);
    const sent = bench.pushes().length;
    step(bench, 4, 5, [B, A]);
    bench.ack(bench.push());
    step(bench, 5, 6, [A, B]);
    expect(bench.pushes()).toHaveLength(sent + 1);
    expect(bench.state()).toBe(AgentState.DEGRADED);
  });
});

describe("a session", () => {
  it("gives way to a newer one of another gateway and tells its agent", () => {
    const bench = synced();
    const { session } = bench.push();
    const taken = create(SessionTakenSchema, {
      workload: "web-1",
      session: session + 1n,
      gateway: "gw2",
    });
    bench.step({
      kind: "delivery",
      listener: "taken",
      subject: "rw.gateway.session",
      payload: toBinary(SessionTakenSchema, taken),
      headers: {},
    });
    expect(bench.last("web-1", "directive").session).toBe(session);
    step(bench, 1, 2, [A, B]);
    expect(bench.pushes()).toHaveLength(1);
  });

  it("tells the older of two agents with one id", () => {
    const bench = synced();
    const first = bench.push().session;
    bench.hello("web-1", { nonce: 77n });
    expect(bench.last("web-1", "directive").session).toBe(first);
  });

  it("that is not known here is told to reconnect", () => {
    const bench = withHead();
    bench.up("web-1", 5n, { case: "heartbeat", value: {} });
    expect(bench.last("web-1", "directive").session).toBe(5n);
  });

  it("that falls silent for three intervals is OFFLINE and gets nothing", () => {
    const bench = synced();
    bench.wait(41_000);
    expect(bench.state()).toBe(AgentState.OFFLINE);
    step(bench, 1, 2, [A, B]);
    expect(bench.pushes()).toHaveLength(1);
  });

  it("gets a pulse in every interval that names the last sequence", () => {
    const bench = synced();
    bench.wait(10_000);
    const pulses = bench.downs().filter(({ body: { case: kind } }) => kind === "pulse");
    expect(pulses).toHaveLength(1);
    expect(pulses[0]?.body.value).toMatchObject({ lastSeq: 2n });
  });

  it("leaves nothing behind when ten thousand of them come and go", () => {
    const bench = withHead();
    for (let round = 0; round < 10_000; round += 1) {
      bench.effects = [];
      bench.hello("web-1", { nonce: BigInt(round) });
      bench.ack(bench.last("web-1", "helloAck"), AckStatus.REFUSED);
    }
    bench.effects = [];
    bench.wait(2000);
    const pages = bench.all("append").filter(({ stream }) => stream === "STATUS");
    expect(pages).toHaveLength(1);
  });

  it("hears from its gateway when that stops", () => {
    const bench = synced();
    bench.step({ kind: "stop" });
    expect(bench.last("web-1", "directive").body.value).toMatchObject({
      reason: "this gateway stops",
    });
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

describe("content", () => {
  it("is read when it did not pass by, asked for when it is missing, and read again", () => {
    const bench = Bench.ready();
    bench.feed(advance("rw", "web-1", undefined, { version: 1, policy: A }));
    bench.hello();
    const [read] = bench.all("read-last");
    bench.step({ kind: "read", tag: read?.tag ?? "", record: undefined });
    bench.monotonicMs += 500;
    bench.step({ kind: "timer", id: "content" });
    const want = bench.all("publish").find(({ subject }) => subject === "rw.internal.content.want");
    expect(fromBinary(ContentWantSchema, want?.payload ?? new Uint8Array()).digests).toHaveLength(
      1,
    );
    expect(bench.all("read-last")).toHaveLength(2);
    for (const entry of stored("rw", A).reverse()) {
      const [, digest] = /content\.([0-9a-f]+)/.exec(entry.subject) ?? [];
      const record = { ...entry, sequence: 1, headers: {}, timeUnixMs: 0 };
      bench.step({ kind: "read", tag: `content:${digest}:0`, record });
    }
    expect(bench.pushes()).toHaveLength(1);
  });

  it("in several parts is put together", () => {
    const bench = Bench.ready();
    const peers = Array.from(
      { length: 300 },
      (_unused, index) => `10.1.${index >> 8}.${index & 255}/32`,
    );
    const large = body(...peers);
    for (const entry of stored("rw", large, 700)) bench.feed(entry);
    bench.feed(advance("rw", "web-1", undefined, { version: 1, policy: large }));
    bench.hello();
    expect(bench.push().body.case).toBe("snapshot");
  });
});

describe("what is written and sent by the clock", () => {
  it("is one lease batch a second of those that were heard", () => {
    const bench = synced();
    bench.wait(2000);
    const batches = bench
      .all("publish")
      .filter(({ subject }) => subject === "rw.lease")
      .map(({ payload }) => fromBinary(LeaseBatchSchema, payload).workloads);
    expect(batches).toEqual([["web-1"]]);
  });

  it("is a STATUS page at most once a second, however many acknowledgements come", () => {
    const bench = synced();
    for (let version = 1; version < 10; version += 1) {
      step(bench, version, version + 1, version % 2 === 1 ? [A, B] : [B, A]);
      bench.ack(bench.push());
    }
    bench.wait(1000);
    const pages = bench.all("append");
    expect(pages).toHaveLength(1);
    const page = fromBinary(StatusPageSchema, pages[0]?.payload ?? new Uint8Array());
    expect(page.workloads).toMatchObject([{ workload: "web-1", ackedVersion: 10n }]);
  });

  it("is a report again when the registrar did not answer", () => {
    const bench = withHead();
    bench.hello("web-1", { inventory: {} });
    const tag = bench.all("request").at(-1)?.tag ?? "";
    bench.step({ kind: "failed", tag, effect: "request", code: "no-responders", detail: "" });
    bench.wait(2000);
    expect(bench.all("request")).toHaveLength(2);
    const refusal = create(ReportWorkloadResponseSchema, {
      error: { code: "invalid", message: "no" },
    });
    bench.step({
      kind: "response",
      tag,
      payload: toBinary(ReportWorkloadResponseSchema, refusal),
    });
    bench.ack(bench.push());
    expect(bench.status().detail).toBe("report refused: no");
  });
});

function samePartition(workload: string, count: number): string[] {
  const found: string[] = [];
  for (let index = 0; found.length < count; index += 1) {
    const id = `other-${index}`;
    if (partitionOf(id) === partitionOf(workload)) {
      found.push(id);
    }
  }
  return found;
}
