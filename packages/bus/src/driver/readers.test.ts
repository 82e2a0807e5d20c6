import type { Inbox, Message } from "@ringwall/actor";
import { eventually, startNats } from "@ringwall/testkit";
import { describe, expect, it } from "vitest";
import { connectBus, ensureTopology } from "../index.ts";
import { Readers } from "./readers.ts";

const RECORDS = 800;
const RECORD_BYTES = 100 * 1024;

describe("a reader before a full mailbox", () => {
  it("holds the server back and loses nothing", async () => {
    const nats = await startNats();
    const bus = await connectBus({ url: nats.url, name: "test" });
    await ensureTopology(bus);
    for (let i = 0; i < RECORDS; i += 1) {
      await bus.nc.request(bus.names.version(i % 64), new Uint8Array(RECORD_BYTES));
    }
    const sequences: number[] = [];
    const waiting: (() => void)[] = [];
    let full = true;
    const inbox: Inbox = {
      get full() {
        return full;
      },
      deliver: (message: Message) => {
        if (message.kind === "record") {
          sequences.push(message.record.sequence);
        }
      },
      whenRoom: (call) => {
        if (full) {
          waiting.push(call);
        } else {
          call();
        }
      },
    };
    const readers = new Readers(bus, inbox, "test");
    readers.follow({ kind: "follow", reader: "r", stream: "VERSIONS", filters: [], from: "all" });
    await eventually("the first flow control request", () => waiting.length > 0);
    const held = await eventually(
      "a standstill",
      async () => {
        const before = sequences.length;
        await new Promise((resolve) => setTimeout(resolve, 500));
        return sequences.length === before ? before : -1;
      },
      (count) => count >= 0,
    );
    expect(held).toBeLessThan(RECORDS / 2);
    full = false;
    for (const call of waiting.splice(0)) {
      call();
    }
    await eventually("all records", () => sequences.length === RECORDS);
    expect(sequences).toEqual(Array.from({ length: RECORDS }, (_, i) => i + 1));
    readers.close();
    await bus.close();
    await nats.stop();
  });
});

describe("a reader that looks at its stream after a reconnect", () => {
  it("is not lost by what is delivered before the answer comes", async () => {
    const nats = await startNats();
    const bus = await connectBus({ url: nats.url, name: "test" });
    await ensureTopology(bus);
    const seen: Message[] = [];
    const inbox: Inbox = {
      full: false,
      deliver: (message) => seen.push(message),
      whenRoom: (call) => call(),
    };
    const records = () => seen.filter(({ kind }) => kind === "record").length;
    const store = () => bus.nc.request(bus.names.version(0), new Uint8Array(1));
    let looks = 0;
    const answered = Promise.withResolvers<void>();
    const { streams } = bus.jsm;
    const info = streams.info.bind(streams);
    streams.info = async (...parts) => {
      const answer = await info(...parts);
      looks += 1;
      if (looks === 3) {
        // The second look after the reconnect: something is stored and delivered meanwhile.
        await store();
        await eventually("the delivery", () => records() === 2);
        answered.resolve();
      }
      return answer;
    };
    const readers = new Readers(bus, inbox, "test");
    await store();
    readers.follow({ kind: "follow", reader: "r", stream: "VERSIONS", filters: [], from: "all" });
    await eventually("the first record", () => records() === 1);
    readers.restartAll();
    await answered.promise;
    await store();
    await eventually("the last record", () => records() === 3);
    expect(seen.filter(({ kind }) => kind === "reader-lost")).toEqual([]);
    readers.close();
    await bus.close();
    await nats.stop();
  });
});
