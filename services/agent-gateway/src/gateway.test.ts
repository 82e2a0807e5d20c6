import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  AckStatus,
  AgentState,
  ContentWantSchema,
  LeaseBatchSchema,
  ReportWorkloadResponseSchema,
  SessionTakenSchema,
  StatusPageSchema,
} from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { Bench } from "./testing/bench.ts";
import { advance, body, commit, stored } from "./testing/records.ts";
import { A, B, step, synced, withHead } from "./testing/scenes.ts";

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

  it("gets no pulse right after it has acknowledged everything", () => {
    const bench = synced();
    bench.wait(4000);
    step(bench, 1, 2, [A, B]);
    bench.ack(bench.push());
    bench.effects = [];
    bench.wait(4000);
    const pulses = () => bench.downs().filter(({ body: { case: kind } }) => kind === "pulse");
    expect(pulses()).toHaveLength(0);
    bench.wait(12_000);
    expect(pulses().length).toBeGreaterThan(0);
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
