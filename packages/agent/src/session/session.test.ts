import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { bodyDigest, marshal } from "@ringwall/rendered";
import {
  AckStatus,
  DirectiveKind,
  DirectiveSchema,
  HelloAckSchema,
  PulseSchema,
  SnapshotChunkSchema,
  type WorkloadPolicy,
} from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { digestBytes } from "../digest.ts";
import { ENV, failure, holding, opened, policy, started } from "./testing/session-bench.ts";

describe("AgentSession while dialling", () => {
  it("claims nothing when it has nothing", () => {
    const hello = started().hello();
    expect(hello.appliedVersion).toBe(0n);
    expect(hello.digest).toHaveLength(0);
  });

  it("claims what is in force, and the refused bodies", () => {
    const held = policy(7n, "10.0.0.1/32");
    const digest = bodyDigest(held);
    const record = { workload: "web-1", epoch: 3n, digest, inputs: undefined, policy: held };
    const hello = started({ record, installed: true, refused: [digest], faults: [] }).hello();
    expect([hello.epoch, hello.appliedVersion]).toEqual([3n, 7n]);
    expect(hello.digest).toEqual(new Uint8Array(digestBytes(digest)));
    expect(hello.refusedDigests).toHaveLength(1);
  });

  it("claims the version but no digest when the stored policy could not be put in force", () => {
    const held = policy(7n, "10.0.0.1/32");
    const digest = bodyDigest(held);
    const record = { workload: "web-1", epoch: 3n, digest, inputs: undefined, policy: held };
    const hello = started({ record, installed: false, refused: [], faults: [] }).hello();
    expect(hello.appliedVersion).toBe(7n);
    expect(hello.digest).toHaveLength(0);
  });

  it("repeats the same Hello with full jitter: within 1 s at first, at most 15 s", () => {
    const bench = started();
    bench.chance = 1;
    const delays: number[] = [];
    for (let attempt = 0; attempt < 8; attempt += 1) {
      for (const effect of bench.step({ kind: "timer", id: "hello" })) {
        if (effect.kind === "timer") delays.push(effect.delayMs);
      }
    }
    expect(delays).toEqual([2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000, 15_000]);
    const nonces = bench.ups.map((up) => (up.body.case === "hello" ? up.body.value.nonce : 0n));
    expect(new Set(nonces).size).toBe(1);
  });

  it("ignores a HelloAck with another nonce", () => {
    const bench = started();
    const value = create(HelloAckSchema, { nonce: bench.hello().nonce + 1n, gateway: "gw" });
    bench.down({ session: 5n, seq: 1n, body: { case: "helloAck", value } });
    expect(bench.session.status.phase).toBe("dialling");
  });

  it("takes no push", () => {
    const bench = started();
    bench.snapshot(policy(1n, "10.0.0.1/32"));
    expect(bench.effects.some((effect) => effect.kind === "apply")).toBe(false);
  });
});

describe("AgentSession while open", () => {
  it("takes the highest of several HelloAcks with its nonce", () => {
    const bench = opened();
    bench.open(200n);
    bench.open(150n);
    bench.sessionId = 200n;
    bench.snapshot(policy(1n, "10.0.0.1/32"));
    expect(bench.effects.some((effect) => effect.kind === "apply")).toBe(true);
  });

  it("acknowledges a snapshot only after it is in force and stored", () => {
    const bench = opened();
    bench.snapshot(policy(1n, "10.0.0.1/32"));
    expect(bench.ups.some((up) => up.body.case === "ack")).toBe(false);
    bench.applied();
    expect(bench.ack()).toMatchObject({ status: AckStatus.APPLIED, version: 1n, seq: 2n });
    expect(bench.session.status.version).toBe(1n);
  });

  it("applies a delta to what it has", () => {
    const bench = holding(1n, "10.0.0.1/32");
    bench.delta(policy(1n, "10.0.0.1/32"), policy(2n, "10.0.0.2/32"));
    bench.applied();
    expect(bench.session.inForce?.policy.inboundRules[0]?.peerCidrs).toEqual(["10.0.0.2/32"]);
  });

  it("takes pipelined deltas one after the other", () => {
    const bench = holding(1n, "10.0.0.1/32");
    bench.delta(policy(1n, "10.0.0.1/32"), policy(2n, "10.0.0.2/32"));
    bench.delta(policy(2n, "10.0.0.2/32"), policy(3n, "10.0.0.3/32"));
    expect(bench.effects.filter((effect) => effect.kind === "apply")).toHaveLength(2);
    bench.applied();
    bench.applied();
    expect(bench.ack().version).toBe(3n);
  });

  it.each([
    ["a lower version of its epoch", policy(4n, "10.0.0.9/32"), 1n],
    ["an older epoch", policy(9n, "10.0.0.9/32"), 0n],
    ["its version with another body", policy(5n, "10.0.0.9/32"), 1n],
  ])("answers OUT_OF_STEP to %s", (_name, pushed, epoch) => {
    const bench = holding(5n, "10.0.0.1/32");
    bench.snapshot(pushed, epoch);
    expect(bench.ack().status).toBe(AckStatus.OUT_OF_STEP);
    expect(bench.session.status.version).toBe(5n);
  });

  it("takes a lower version of a newer epoch", () => {
    const bench = holding(5n, "10.0.0.1/32");
    bench.snapshot(policy(2n, "10.0.0.9/32"), 2n);
    bench.applied();
    expect(bench.session.status).toMatchObject({ version: 2n, epoch: 2n });
  });

  it("stores without installing when the body is in force already", () => {
    const bench = holding(5n, "10.0.0.1/32");
    bench.delta(policy(5n, "10.0.0.1/32"), policy(6n, "10.0.0.1/32"));
    expect(bench.effects.findLast((effect) => effect.kind === "apply")).toMatchObject({
      installed: true,
    });
  });

  it("answers OUT_OF_STEP when the body does not have the digest that was named", () => {
    const bench = opened();
    const pushed = policy(1n, "10.0.0.1/32");
    const digest = new Uint8Array(32);
    const value = { ...bench.head(pushed, 1n), digest };
    bench.down({ ...value, body: { case: "snapshot", value: pushed } });
    expect(bench.ack().status).toBe(AckStatus.OUT_OF_STEP);
    expect(bench.ack().detail).toContain("digest");
  });

  it("answers OUT_OF_STEP to a delta from another base", () => {
    const bench = holding(5n, "10.0.0.1/32");
    bench.delta(policy(4n, "10.0.0.1/32"), policy(6n, "10.0.0.2/32"));
    expect(bench.ack().status).toBe(AckStatus.OUT_OF_STEP);
  });

  it("never takes another workload's policy", () => {
    const bench = opened();
    const pushed = policy(1n, "10.0.0.1/32");
    const message = { ...bench.head(pushed, 1n), workloadId: "web-2" };
    bench.down({ ...message, body: { case: "snapshot", value: pushed } });
    expect(bench.effects.some((effect) => effect.kind === "apply")).toBe(false);
  });

  it("drops messages of another session", () => {
    const bench = opened();
    bench.sessionId = 99n;
    bench.snapshot(policy(1n, "10.0.0.1/32"));
    expect(bench.effects.some((effect) => effect.kind === "apply")).toBe(false);
  });

  it("says Hello with a new nonce after a gap in the sequence", () => {
    const bench = opened();
    const before = bench.hello().nonce;
    bench.chance = 0.25;
    bench.seq += 1n;
    bench.snapshot(policy(1n, "10.0.0.1/32"));
    expect(bench.session.status.phase).toBe("dialling");
    expect(bench.hello().nonce).not.toBe(before);
    expect(bench.hello().lastSession).toBe(100n);
  });

  it("drops a repeated message", () => {
    const bench = holding(1n, "10.0.0.1/32");
    bench.seq -= 1n;
    bench.snapshot(policy(1n, "10.0.0.1/32"));
    expect(bench.effects.filter((effect) => effect.kind === "apply")).toHaveLength(1);
  });

  it("says Hello when a pulse tells of a message that it did not get", () => {
    const bench = opened();
    bench.down({ body: { case: "pulse", value: create(PulseSchema, { lastSeq: 2n }) } });
    expect(bench.session.status.phase).toBe("dialling");
  });

  it("answers REFUSED, remembers the body and keeps what is in force", () => {
    const bench = holding(1n, "10.0.0.1/32");
    bench.snapshot(policy(2n, "10.0.0.2/32"));
    bench.step({ kind: "applied", outcome: { kind: "refused", detail: "nft says no" } });
    expect(bench.ack()).toMatchObject({ status: AckStatus.REFUSED, detail: "nft says no" });
    expect(bench.session.status.refused).toEqual([bodyDigest(policy(2n, "10.0.0.2/32"))]);
    expect(bench.session.status.version).toBe(1n);
  });

  it("forgets a refusal when the body is in force after all", () => {
    const bench = holding(1n, "10.0.0.1/32");
    bench.snapshot(policy(2n, "10.0.0.2/32"));
    bench.step({ kind: "applied", outcome: { kind: "refused", detail: "busy" } });
    bench.snapshot(policy(2n, "10.0.0.2/32"));
    bench.applied();
    expect(bench.session.status.refused).toEqual([]);
  });

  it("remembers at most four refused bodies", () => {
    const bench = holding(1n, "10.0.0.1/32");
    for (let version = 2n; version < 8n; version += 1n) {
      bench.snapshot(policy(version, `10.0.1.${version}/32`));
      bench.step({ kind: "applied", outcome: { kind: "refused", detail: "no" } });
    }
    expect(bench.session.status.refused).toHaveLength(4);
  });

  it("says that the host failed, which is no word about the body", () => {
    const bench = opened();
    bench.snapshot(policy(1n, "10.0.0.1/32"));
    bench.step({ kind: "applied", outcome: failure(false) });
    expect(bench.ack()).toMatchObject({ status: AckStatus.OUT_OF_STEP });
    expect(bench.ack().detail).toBe("FAILED: disk full");
    expect(bench.session.status.refused).toEqual([]);
  });

  it("takes nothing below a policy that is in force and could not be stored, and says so", () => {
    const bench = holding(1n, "10.0.0.1/32");
    const inputs = { generation: 5n, configSequence: 9n, registryRevision: 9n };
    const later = policy(2n, "10.0.0.2/32");
    bench.down({ ...bench.head(later, 1n), inputs, body: { case: "snapshot", value: later } });
    bench.step({ kind: "applied", outcome: failure(true) });
    expect(bench.session.status.installed).toBe(false);
    const drift = bench.step({ kind: "timer", id: "drift" });
    expect(drift).toContainEqual(expect.objectContaining({ kind: "check-drift", policy: later }));

    bench.step({ kind: "reconnected" });
    bench.step({ kind: "timer", id: "hello" });
    expect(bench.hello()).toMatchObject({ appliedVersion: 1n, inputs });
    expect(bench.hello().digest).toHaveLength(0);

    bench.open(200n);
    const below = policy(3n, "10.0.0.3/32");
    const older = { ...inputs, configSequence: 8n };
    bench.down({
      ...bench.head(below, 1n),
      inputs: older,
      body: { case: "snapshot", value: below },
    });
    expect(bench.ack()).toMatchObject({ status: AckStatus.OUT_OF_STEP, version: 3n });

    bench.down({ ...bench.head(later, 1n), inputs, body: { case: "snapshot", value: later } });
    expect(bench.effects.findLast(({ kind }) => kind === "apply")).toMatchObject({
      previous: undefined,
      installed: false,
    });
    bench.applied();
    expect(bench.session.status).toMatchObject({ version: 2n, installed: true });
  });

  it("does not acknowledge in a later session what was applied in an earlier one", () => {
    const bench = opened();
    bench.snapshot(policy(1n, "10.0.0.1/32"));
    bench.step({ kind: "reconnected" });
    bench.applied();
    expect(bench.ups.some((up) => up.body.case === "ack")).toBe(false);
    expect(bench.session.status.version).toBe(1n);
  });

  it("says Hello again after three silent intervals", () => {
    const bench = opened();
    bench.monotonicMs += 30_001;
    bench.step({ kind: "timer", id: "heartbeat" });
    expect(bench.session.status.phase).toBe("dialling");
  });

  it("tells what is in force in its heartbeat", () => {
    const bench = holding(4n, "10.0.0.1/32");
    bench.monotonicMs += 10_000;
    bench.step({ kind: "timer", id: "heartbeat" });
    expect(bench.ups.at(-1)?.body.value).toMatchObject({ version: 4n, lastSeq: 2n });
  });

  it("sends no heartbeat while its acknowledgements are as good a sign of life", () => {
    const bench = holding(4n, "10.0.0.1/32");
    bench.step({ kind: "timer", id: "heartbeat" });
    bench.monotonicMs += 4000;
    bench.snapshot(policy(5n, "10.0.0.2/32"));
    bench.applied();
    bench.monotonicMs += 6000;
    const early = bench.step({ kind: "timer", id: "heartbeat" });
    expect(early).toEqual([{ kind: "timer", id: "heartbeat", delayMs: 4000 }]);
    bench.monotonicMs += 4000;
    bench.step({ kind: "timer", id: "heartbeat" });
    expect(bench.ups.at(-1)?.body).toMatchObject({ case: "heartbeat", value: { version: 5n } });
  });

  it("tells soon, and once, of repairs of the live ruleset", () => {
    const bench = holding(4n, "10.0.0.1/32");
    const first = bench.step({ kind: "drift", repaired: 1, detail: "gone" });
    expect(first).toContainEqual({ kind: "timer", id: "heartbeat", delayMs: 1000 });
    const second = bench.step({ kind: "drift", repaired: 2, detail: "gone" });
    expect(second.some(({ kind }) => kind === "timer")).toBe(false);
    bench.step({ kind: "timer", id: "heartbeat" });
    expect(bench.ups.at(-1)?.body).toMatchObject({ case: "heartbeat", value: { driftCount: 3n } });
  });

  it("waits with jitter when it is told to reconnect", () => {
    const bench = opened();
    const value = create(DirectiveSchema, { kind: DirectiveKind.RECONNECT, reason: "stop" });
    const effects = bench.down({ body: { case: "directive", value } });
    expect(bench.session.status.phase).toBe("dialling");
    expect(effects.some((effect) => effect.kind === "publish")).toBe(false);
    expect(effects.some((effect) => effect.kind === "timer" && effect.id === "hello")).toBe(true);
  });

  it("counts what it can't read", () => {
    const bench = opened();
    const effects = bench.step({
      kind: "delivery",
      listener: "down",
      subject: ENV.subjects.down,
      payload: new Uint8Array([0xff, 0xff]),
      headers: {},
    });
    expect(effects).toEqual([{ kind: "count", name: "agent_malformed_downs_total" }]);
  });
});

describe("AgentSession and chunked snapshots", () => {
  function chunks(pushed: WorkloadPolicy, size: number) {
    const bytes = marshal(pushed);
    const sha256 = createHash("sha256").update(bytes).digest();
    const count = Math.ceil(bytes.length / size);
    return Array.from({ length: count }, (_unused, index) => {
      const data = bytes.subarray(index * size, (index + 1) * size);
      return create(SnapshotChunkSchema, { id: 9n, index, count, sha256, data });
    });
  }

  it("puts the parts together and acknowledges the last", () => {
    const bench = opened();
    const pushed = policy(1n, "10.0.0.1/32", "10.0.0.2/32", "10.0.0.3/32");
    for (const value of chunks(pushed, 16)) {
      bench.down({ ...bench.head(pushed, 1n), body: { case: "chunk", value } });
    }
    bench.applied();
    expect(bench.ack()).toMatchObject({ status: AckStatus.APPLIED, seq: bench.seq });
  });

  it("answers OUT_OF_STEP when a part is altered", () => {
    const bench = opened();
    const pushed = policy(1n, "10.0.0.1/32", "10.0.0.2/32", "10.0.0.3/32");
    for (const value of chunks(pushed, 16)) {
      const data = value.index === 1 ? value.data.map((byte) => byte ^ 1) : value.data;
      bench.down({
        ...bench.head(pushed, 1n),
        body: { case: "chunk", value: create(SnapshotChunkSchema, { ...value, data }) },
      });
    }
    expect(bench.ack().status).toBe(AckStatus.OUT_OF_STEP);
  });
});
