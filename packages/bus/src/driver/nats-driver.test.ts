import { type Effect, type Message, newTrace } from "@ringwall/actor";
import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Bus, connectBus, ensureTopology } from "../index.ts";
import { bytes, type ScriptActor, scriptActor } from "../testing/script-actor.ts";

let nats: NatsServer;
let bus: Bus;
let a: ScriptActor;

beforeEach(async () => {
  nats = await startNats();
  bus = await connectBus({ url: nats.url, name: "test" });
  await ensureTopology(bus);
  a = await scriptActor(bus);
});
afterEach(async () => {
  await a.actor.stop(500);
  await bus.close();
  await nats.stop();
});

const version = (partition: number) => `rw.version.${partition}`;

function append(tag: string, text: string, sequence?: number, partition = 0): Effect {
  return {
    kind: "append",
    tag,
    stream: "VERSIONS",
    subject: version(partition),
    payload: bytes(text),
    ...(sequence === undefined ? {} : { expect: { sequence }, write: `a:${tag}` }),
  };
}

async function answer(tag: string, deadlineMs = 60_000): Promise<Message> {
  const found = await eventually(
    `an answer to ${tag}`,
    () => a.seen.find((message) => "tag" in message && message.tag === tag),
    (message) => message !== undefined,
    deadlineMs,
  );
  if (found === undefined) {
    throw new Error("unreachable");
  }
  return found;
}

describe("a fenced append", () => {
  it("lets exactly one of two writers win and names the loser", async () => {
    a.run(append("one", "1", 0));
    a.run(append("two", "2", 0));
    const kinds = [(await answer("one")).kind, (await answer("two")).kind].sort();
    expect(kinds).toEqual(["appended", "failed"]);
    expect(a.seen.find((message) => message.kind === "failed")).toMatchObject({
      code: "fence-lost",
      effect: "append",
    });
  });

  it("counts the whole filter when one is given", async () => {
    const put = (tag: string, workload: string, sequence: number): Effect => ({
      kind: "append",
      tag,
      stream: "REGISTRY",
      subject: bus.names.registryWorkload(3, workload),
      payload: bytes(workload),
      expect: { sequence, filter: bus.names.registryPartition(3) },
      write: `a:${tag}`,
    });
    a.run(put("w1", "alpha", 0), put("w2", "beta", 1), put("w3", "gamma", 1));
    expect(await answer("w2")).toMatchObject({ kind: "appended", sequence: 2 });
    expect(await answer("w3")).toMatchObject({ kind: "failed", code: "fence-lost" });
  });

  it("knows its own write again when the answer was lost", async () => {
    a.run(append("first", "1", 0));
    await answer("first");
    // The same write again is what a repeat after a lost answer looks like to the server.
    a.run({ ...append("again", "1", 0), write: "a:first" } as Effect);
    expect(await answer("again")).toMatchObject({ kind: "appended", sequence: 1 });
  });

  it("does not take the write of a former life for its own", async () => {
    a.run(append("first", "1", 0), append("second", "2", 1));
    await answer("second");
    a.run({ ...append("other", "x", 2), write: "a:second" } as Effect);
    expect(await answer("other")).toMatchObject({ kind: "appended", sequence: 3 });
    a.run({ ...append("stale", "y", 3), expect: { sequence: 7 }, write: "a:second" } as Effect);
    expect(await answer("stale")).toMatchObject({ kind: "failed", code: "fence-lost" });
  });

  it("is resolved when the server freezes before it answers", async () => {
    a.run(append("warm", "0", 0));
    await answer("warm");
    nats.pause();
    a.run(append("frozen", "1", 1));
    await new Promise((resolve) => setTimeout(resolve, 6000));
    nats.resume();
    expect(await answer("frozen")).toMatchObject({ kind: "appended", sequence: 2 });
    a.run({ kind: "stream-info", tag: "info", stream: "VERSIONS" });
    expect(await answer("info")).toMatchObject({ lastSequence: 2 });
  });

  it("goes through when the server is killed and comes back meanwhile", async () => {
    a.run(append("warm", "0", 0));
    await answer("warm");
    await nats.kill();
    a.run(append("down", "1", 1));
    await nats.restart();
    expect(await answer("down")).toMatchObject({ kind: "appended", sequence: 2 });
  });

  it("refuses what is larger than the server takes, without sending it", async () => {
    a.run({
      kind: "append",
      tag: "big",
      stream: "VERSIONS",
      subject: version(0),
      payload: new Uint8Array(1024 * 1024 + 1),
    });
    expect(await answer("big")).toMatchObject({ kind: "failed", code: "too-large" });
  });
});

describe("an ordered reader", () => {
  const follow = (reader: string, from: "all" | "new" | "last-per-subject" | number): Effect => ({
    kind: "follow",
    reader,
    stream: "VERSIONS",
    filters: [`rw.version.*`],
    from,
  });
  const caughtUp = (reader: string) =>
    eventually(`${reader} caught up`, () =>
      a.seen.some((message) => message.kind === "caught-up" && message.reader === reader),
    );

  it("delivers what is stored, says that it caught up, and goes on", async () => {
    a.run(...Array.from({ length: 300 }, (_, i) => append(`t${i}`, `${i}`)));
    await answer("t299");
    a.run(follow("r", "all"), follow("last", "last-per-subject"), follow("late", 200));
    await Promise.all(["r", "last", "late"].map(caughtUp));
    expect(a.texts("r")).toEqual(Array.from({ length: 300 }, (_, i) => `${i}`));
    expect(a.texts("last")).toEqual(["299"]);
    expect(a.texts("late")[0]).toBe("199");
    a.run(append("more", "more"));
    await eventually("the new one", () => a.texts("r").at(-1) === "more");
    expect(a.seen.find((each) => each.kind === "caught-up" && each.reader === "r")).toMatchObject({
      sequence: 300,
    });
  });

  it("catches up at once on an empty stream and when only new ones are wanted", async () => {
    a.run(follow("empty", "all"));
    await caughtUp("empty");
    a.run(append("old", "old"));
    await answer("old");
    a.run(follow("new", "new"));
    await caughtUp("new");
    a.run(append("fresh", "fresh"));
    await eventually("fresh", () => a.texts("new").length > 0);
    expect(a.texts("new")).toEqual(["fresh"]);
  });

  it("goes on without gap or repeat over a kill -9 and restart of the server", async () => {
    a.run(follow("r", "all"));
    await caughtUp("r");
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 50; i += 1) {
        a.run(append(`r${round}.${i}`, `${round}.${i}`, round * 50 + i));
        await answer(`r${round}.${i}`);
      }
      await nats.kill();
      await nats.restart();
      await eventually("the reconnect", () => bus.connected);
    }
    a.run(append("end", "end", 150));
    await eventually("the end", () => a.texts("r").at(-1) === "end");
    expect(a.texts("r")).toHaveLength(151);
    expect(new Set(a.texts("r")).size).toBe(151);
  });

  it("is lost when the stream comes back empty", async () => {
    a.run(append("x", "x"), follow("r", "all"));
    await caughtUp("r");
    await nats.kill();
    await nats.wipe();
    await nats.restart();
    const lost = await eventually(
      "the loss",
      () => a.seen.find((message) => message.kind === "reader-lost"),
      (message) => message !== undefined,
    );
    expect(lost).toMatchObject({ reader: "r" });
  });

  it("is lost when the stream was created anew", async () => {
    a.run(append("x", "x"), follow("r", "all"));
    await caughtUp("r");
    await bus.jsm.streams.delete("rw-VERSIONS");
    await ensureTopology(bus);
    a.run(append("y", "y"), append("z", "z"));
    await eventually("the loss", () => a.seen.some((message) => message.kind === "reader-lost"));
    expect(a.texts("r")).toEqual(["x"]);
  });

  it("is lost when an older copy of the store comes back, even if it has grown again", async () => {
    a.run(append("1", "1"), append("2", "2"));
    await answer("2");
    await nats.kill();
    const copy = await nats.backup();
    await nats.restart();
    await eventually("the reconnect", () => bus.connected);
    a.run(append("3", "3"), append("4", "4"), follow("r", "all"));
    await caughtUp("r");
    expect(a.texts("r")).toEqual(["1", "2", "3", "4"]);
    await nats.kill();
    await nats.restore(copy);
    await nats.restart();
    const other = await connectBus({ url: nats.url, name: "other" });
    for (const text of ["x", "y", "z"]) {
      await other.nc.request("rw.version.0", text);
    }
    await other.close();
    await eventually(
      "the loss",
      () => a.seen.some((message) => message.kind === "reader-lost"),
      Boolean,
      60_000,
    );
    expect(a.texts("r")).toEqual(["1", "2", "3", "4"]);
  });

  it("is lost at once when the wanted position lies beyond the stream", async () => {
    a.run(append("x", "x"), follow("r", 7));
    await eventually("the loss", () => a.seen.some((message) => message.kind === "reader-lost"));
    expect(a.seen.find((message) => message.kind === "reader-lost")).toMatchObject({
      detail: expect.stringContaining("ends at 1, 6 was there"),
    });
  });

  it("follows several filters in stream order", async () => {
    a.run(
      append("a", "a", undefined, 1),
      append("b", "b", undefined, 2),
      append("c", "c", undefined, 3),
      { ...follow("r", "all"), filters: [version(1), version(3)] } as Effect,
    );
    await caughtUp("r");
    expect(a.texts("r")).toEqual(["a", "c"]);
  });
});

describe("traces", () => {
  it("travel with appends, publishes and requests", async () => {
    const trace = newTrace(Math.random);
    a.run({ kind: "listen", listener: "l", subject: "rw.internal.x.y" });
    a.run({ ...append("traced", "x"), trace } as Effect, {
      kind: "read-last",
      tag: "read",
      stream: "VERSIONS",
      subject: version(0),
    });
    expect(await answer("read")).toMatchObject({ record: { headers: { traceparent: trace } } });
    const subject = "rw.internal.x.y";
    a.run({ kind: "publish", subject, payload: bytes("p"), trace });
    a.run({ kind: "request", tag: "r", subject, payload: bytes("r"), timeoutMs: 200, trace });
    await eventually(
      "both deliveries",
      () => a.seen.filter((message) => message.kind === "delivery" && message.trace === trace),
      (deliveries) => deliveries.length === 2,
    );
  });
});

describe("reads and trims", () => {
  it("wait for a server that is away and come back soon after it does", async () => {
    a.run(append("1", "one"));
    await answer("1");
    await nats.kill();
    await eventually("the disconnect", () => !bus.connected);
    a.run({ kind: "read-last", tag: "away", stream: "VERSIONS", subject: version(0) });
    await nats.restart();
    expect(await answer("away")).toMatchObject({ record: { sequence: 1 } });
  });

  it("reads the last message of a subject and one by its sequence", async () => {
    a.run(
      append("1", "one"),
      append("2", "two"),
      { kind: "read-last", tag: "last", stream: "VERSIONS", subject: version(0) },
      { kind: "read-at", tag: "at", stream: "VERSIONS", sequence: 1 },
      { kind: "read-last", tag: "none", stream: "VERSIONS", subject: version(9) },
    );
    expect(await answer("last")).toMatchObject({ record: { sequence: 2, payload: bytes("two") } });
    expect(await answer("at")).toMatchObject({ record: { sequence: 1 } });
    expect(await answer("none")).toMatchObject({ kind: "read", record: undefined });
  });

  it("never trims the last message of a subject, unless all is asked for", async () => {
    a.run(append("1", "one"), append("2", "two"), append("3", "three", undefined, 1), {
      kind: "trim",
      tag: "trim",
      stream: "VERSIONS",
      subject: version(0),
      below: 100,
    });
    await answer("trim");
    a.run({ kind: "stream-info", tag: "info", stream: "VERSIONS" });
    expect(await answer("info")).toMatchObject({ firstSequence: 2, lastSequence: 3 });
    a.run({ kind: "trim", tag: "all", stream: "VERSIONS", subject: version(0), all: true });
    await answer("all");
    a.run({ kind: "read-last", tag: "gone", stream: "VERSIONS", subject: version(0) });
    expect(await answer("gone")).toMatchObject({ record: undefined });
  });

  it("tells a stream's creation time in nanoseconds", async () => {
    a.run({ kind: "stream-info", tag: "info", stream: "CONFIG" });
    const info = await answer("info");
    if (info.kind !== "stream-info") {
      throw new Error(`unexpected ${info.kind}`);
    }
    expect(Number(info.createdUnixNs / 1_000_000n)).toBeGreaterThan(Date.now() - 60_000);
    expect(Number(info.createdUnixNs / 1_000_000n)).toBeLessThan(Date.now() + 1000);
  });
});

describe("core messages", () => {
  it("are delivered to listeners and requests are answered once", async () => {
    a.run({ kind: "listen", listener: "l", subject: "rw.internal.x.y" });
    await eventually("the listener", async () => {
      bus.nc.publish("rw.internal.x.y", "hello");
      return a.seen.some((message) => message.kind === "delivery");
    });
    const request = bus.nc.request("rw.internal.x.y", "ask", { timeout: 2000 });
    const asked = await eventually(
      "the request",
      () => a.seen.find((message) => message.kind === "delivery" && message.replyTo !== undefined),
      (message) => message !== undefined,
    );
    const to = asked?.kind === "delivery" ? (asked.replyTo ?? "") : "";
    a.run({ kind: "reply", to, payload: bytes("yes") }, { kind: "reply", to, payload: bytes("2") });
    expect((await request).string()).toBe("yes");
    await eventually("the refusal of a second answer", () =>
      a.seen.some((message) => message.kind === "failed" && message.effect === "reply"),
    );
  });

  it("never tell a reply subject that an agent chose", async () => {
    a.run({ kind: "listen", listener: "l", subject: "rw.agent.*.hello", queue: "gateway" });
    await eventually("the hello", async () => {
      bus.nc.publish("rw.agent.web-1.hello", "hello", { reply: "rw.agent.other.down" });
      return a.seen.some((message) => message.kind === "delivery");
    });
    for (const message of a.seen) {
      expect(message).not.toHaveProperty("replyTo");
    }
  });

  it("say that nobody answers, or not in time", async () => {
    a.run({ kind: "request", tag: "none", subject: "rw.n", payload: bytes(""), timeoutMs: 500 });
    expect(await answer("none")).toMatchObject({ code: "no-responders" });
    bus.nc.subscribe("rw.mute");
    a.run({ kind: "request", tag: "mute", subject: "rw.mute", payload: bytes(""), timeoutMs: 100 });
    expect(await answer("mute")).toMatchObject({ code: "timeout" });
  });
});
