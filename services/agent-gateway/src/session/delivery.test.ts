import { partitionOf } from "@ringwall/bus";
import { apply, bodyDigest, withVersion } from "@ringwall/rendered";
import { AckStatus, AgentState } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { Bench, claim } from "../testing/bench.ts";
import { batch, body, registered } from "../testing/records.ts";
import { A, B, C, step, store, synced, withHead } from "../testing/scenes.ts";
import { fromHex } from "../wire/hex.ts";

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

  it.each([
    ["at once", 0],
    ["after a while", 2_000],
  ])("is not sent again when a Hello from before the refusal comes again %s", (_, afterMs) => {
    const bench = withHead();
    const refusedDigests = [1, 2, 3, 4].map((byte) => new Uint8Array(32).fill(byte));
    bench.hello("web-1", { refusedDigests });
    bench.ack(bench.push(), AckStatus.REFUSED, "no");
    bench.monotonicMs += afterMs;
    bench.wallMs += afterMs;
    const session = bench.hello("web-1", { refusedDigests });
    bench.up("web-1", session, { case: "heartbeat", value: { lastSeq: 2n } });
    expect(bench.pushes()).toHaveLength(1);
    expect(bench.state()).toBe(AgentState.DEGRADED);
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

  it("whose outcome was lost twice is not sent a third time: the agent's Hello says which it was", () => {
    const bench = synced();
    step(bench, 1, 2, [A, B]);
    step(bench, 2, 3, [B, C]);
    bench.ack(bench.push(), AckStatus.OUT_OF_STEP);
    bench.ack(bench.push());
    step(bench, 3, 4, [C, B]);
    expect(bench.push()).toMatchObject({ headVersion: 4n, body: { case: "snapshot" } });
    step(bench, 4, 5, [B, A]);
    bench.ack(bench.push(), AckStatus.OUT_OF_STEP);
    bench.ack(bench.push());
    const sent = bench.pushes().length;
    step(bench, 5, 6, [A, B]);
    expect(bench.pushes()).toHaveLength(sent);
    expect(bench.downs().at(-1)?.body.case).toBe("directive");
    const refused = [fromHex(bodyDigest(B))];
    bench.hello("web-1", { ...claim(A, 5), nonce: 44n, refusedDigests: refused });
    expect(bench.pushes()).toHaveLength(sent);
    expect(bench.state()).toBe(AgentState.DEGRADED);
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
