import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  applyTopology,
  type Bus,
  connectBus,
  deleteTopology,
  diffTopology,
  ensureTopology,
  names,
  PARTITIONS,
  partitionOf,
  STREAMS,
  streamSettings,
} from "./index.ts";
import { bytes, scriptActor } from "./testing/script-actor.ts";

let nats: NatsServer;
let bus: Bus;
beforeAll(async () => {
  nats = await startNats();
  bus = await connectBus({ url: nats.url, name: "test" });
});
afterAll(async () => {
  await bus.close();
  await nats.stop();
});

describe("topology", () => {
  it("is created once and then found as wanted", async () => {
    expect(await diffTopology(bus)).toHaveLength(STREAMS.length);
    expect(await ensureTopology(bus)).toEqual([]);
    expect(await ensureTopology(bus)).toEqual([]);
    expect(await diffTopology(bus)).toEqual([]);
    expect(await applyTopology(bus)).toEqual([]);
  });

  it("is created by several services at once", async () => {
    const other = await connectBus({ url: nats.url, name: "t", prefix: "race" });
    await Promise.all(Array.from({ length: 5 }, () => ensureTopology(other)));
    expect(await diffTopology(other)).toEqual([]);
    await deleteTopology(other);
    await other.close();
  });

  it("shows a changed setting, leaves it at start, and changes it when asked to", async () => {
    await ensureTopology(bus);
    const { config } = await bus.jsm.streams.info("rw-RENDERED");
    await bus.jsm.streams.update("rw-RENDERED", { ...config, max_msgs_per_subject: 5 });
    const difference = {
      kind: "update",
      stream: "rw-RENDERED",
      setting: "max_msgs_per_subject",
      is: 5,
      wanted: 10_000,
      possible: true,
    };
    expect(await ensureTopology(bus)).toEqual([difference]);
    expect(await applyTopology(bus)).toEqual([difference]);
    expect(await diffTopology(bus)).toEqual([]);
  });

  it("refuses streams that were made for another number of partitions", async () => {
    const other = await connectBus({ url: nats.url, name: "t", prefix: "parts" });
    await ensureTopology(other);
    const { config } = await other.jsm.streams.info("parts-VERSIONS");
    const metadata = { ...config.metadata, "ringwall.partitions": "32" };
    await other.jsm.streams.update("parts-VERSIONS", { ...config, metadata });
    await expect(ensureTopology(other)).rejects.toMatchObject({
      code: "partitions-mismatch",
      message: expect.stringContaining("32 partitions, this build has 64"),
    });
    await deleteTopology(other);
    await other.close();
  });

  it("keeps the configuration log from being purged or thinned out", async () => {
    await ensureTopology(bus);
    await bus.nc.request("rw.config.commit", "commit");
    await expect(bus.jsm.streams.purge("rw-CONFIG")).rejects.toThrow();
    await expect(bus.jsm.streams.deleteMessage("rw-CONFIG", 1)).rejects.toThrow();
  });

  it("gives no asynchronous writes where there are replicas", () => {
    expect(streamSettings(names(), 1).get("CONTENT")?.persist_mode).toBe("async");
    expect(streamSettings(names(), 3).get("CONTENT")?.persist_mode).toBeUndefined();
    for (const [name, settings] of streamSettings(names(), 1)) {
      expect(settings.persist_mode === undefined || name === "CONTENT").toBe(true);
    }
  });
});

describe("two prefixes on one server", () => {
  it("do not see each other", async () => {
    const [a, b] = await Promise.all(
      ["aa", "bb"].map(async (prefix) => {
        const each = await connectBus({ url: nats.url, name: prefix, prefix });
        await ensureTopology(each);
        const script = await scriptActor(each, prefix);
        const subject = each.names.registryWorkload(0, "web");
        script.run(
          { kind: "follow", reader: "r", stream: "REGISTRY", filters: [], from: "all" },
          { kind: "listen", listener: "l", subject: each.names.internal("x", "y") },
          { kind: "append", tag: "w", stream: "REGISTRY", subject, payload: bytes(prefix) },
          { kind: "publish", subject: each.names.internal("x", "y"), payload: bytes(prefix) },
        );
        await eventually("the record", () => script.texts("r").length > 0);
        return { each, script };
      }),
    );
    if (a === undefined || b === undefined) {
      throw new Error("both were started");
    }
    expect([a.script.texts("r"), b.script.texts("r")]).toEqual([["aa"], ["bb"]]);
    for (const { script } of [a, b]) {
      expect(script.seen.filter((message) => message.kind === "delivery")).toHaveLength(1);
    }
    for (const { each, script } of [a, b]) {
      await script.actor.stop(500);
      await each.close();
    }
  });
});

describe("partitionOf", () => {
  it("is a fixed function of the id within the number of partitions", () => {
    expect(partitionOf("web-1")).toBe(partitionOf("web-1"));
    const seen = new Set(Array.from({ length: 2000 }, (_, i) => partitionOf(`w${i}`)));
    expect(seen.size).toBe(PARTITIONS);
    // SHA-256("abc") begins ba7816bf.
    expect(partitionOf("abc")).toBe(0xba7816bf % 64);
  });
});
