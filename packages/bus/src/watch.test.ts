import { create, fromBinary } from "@bufbuild/protobuf";
import type { Message, Moment } from "@ringwall/actor";
import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import {
  VersionChangesSchema,
  type WatchFrame,
  WatchResponseSchema,
  WatchVersionsRequestSchema,
} from "@ringwall/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Bus,
  BusError,
  connectBus,
  names,
  type RunningService,
  type ServiceReducer,
  serviceOptions,
  startService,
  WATCH_LIMIT,
  WATCH_SILENCE_MS,
  WatchServer,
  watch,
} from "./index.ts";

interface Cursor {
  at: number;
}

/** A service whose stream counts from where a client is to `last`. */
function counting(instance: string, last: () => number): ServiceReducer & { open(): number } {
  const server = new WatchServer<Cursor>({
    names: names(),
    instance,
    noun: "version",
    next(cursor) {
      if (cursor.at >= last()) {
        return undefined;
      }
      cursor.at += 1;
      const workload = `w-${cursor.at}`;
      const value = create(VersionChangesSchema, { events: [{ workload }] });
      return { body: { case: "versions", value }, revision: BigInt(cursor.at) };
    },
  });
  return {
    open: () => server.size,
    step(message: Message, moment: Moment) {
      const effects = server.step(message, moment);
      if (message.kind === "start") {
        const subject = "rw.api.version.watch";
        effects.push({ kind: "listen", listener: "open", subject, queue: "q" });
        effects.push({ kind: "ready", ready: true });
        effects.push({ kind: "timer", id: "poll", delayMs: 20 });
      } else if (message.kind === "timer" && message.id === "poll") {
        effects.push(...server.changed(), { kind: "timer", id: "poll", delayMs: 20 });
      } else if (message.kind === "delivery" && message.listener === "open") {
        const request = fromBinary(WatchVersionsRequestSchema, message.payload);
        const at = Number(request.ids[0] ?? 0);
        effects.push(...server.open(message.replyTo ?? "", request.inbox, { at }, moment));
      }
      return effects;
    },
  };
}

let nats: NatsServer;
let bus: Bus;
beforeAll(async () => {
  nats = await startNats();
  bus = await connectBus({ url: nats.url, name: "client" });
});
afterAll(async () => {
  await bus.close();
  await nats.stop();
});

async function serve(instance: string, last: () => number): Promise<RunningService> {
  const service = await startService({
    service: "gateway",
    description: "Counts for a test",
    options: serviceOptions(["--nats-url", nats.url, "--instance", instance], {
      RINGWALL_LOG_LEVEL: "silent",
    }),
    create: () => counting(instance, last),
  });
  await eventually("readiness", () => service.problems().length === 0);
  return service;
}

function follow(signal: AbortSignal) {
  return watch(bus, {
    noun: "version",
    verb: "watch",
    requestSchema: WatchVersionsRequestSchema,
    request: (inbox, revision) => ({ inbox, ids: [`${revision}`] }),
    signal,
  });
}

describe("watch", () => {
  it("delivers more frames than its window in order, and goes on with another instance", async () => {
    let last = 100;
    const one = await serve("one", () => last);
    const abort = new AbortController();
    const frames: WatchFrame[] = [];
    const reading = (async () => {
      for await (const frame of follow(abort.signal)) {
        frames.push(frame);
      }
    })();
    await eventually("100 frames", () => frames.length === 100);
    const two = await serve("two", () => last);
    await one.stop();
    last = 150;
    await eventually("150 frames", () => frames.length === 150);
    expect(frames.map((frame) => Number(frame.revision))).toEqual(
      Array.from({ length: 150 }, (_, i) => i + 1),
    );
    abort.abort();
    await reading;
    await two.stop();
  });

  it("throws when nobody serves the stream at first", async () => {
    const reading = follow(new AbortController().signal).next();
    await expect(reading).rejects.toBeInstanceOf(BusError);
  });
});

describe("WatchServer", () => {
  const at = (monotonicMs: number): Moment => ({ wallMs: 0, monotonicMs, random: () => 0 });
  const server = () =>
    new WatchServer<Cursor>({ names: names(), instance: "i", noun: "n", next: () => undefined });

  it("closes a stream that had no credit for ten seconds", () => {
    const subject = server();
    subject.open("r", "_INBOX.x", { at: 0 }, at(0));
    subject.step({ kind: "timer", id: "watch.n" }, at(WATCH_SILENCE_MS));
    expect(subject.size).toBe(1);
    subject.step({ kind: "timer", id: "watch.n" }, at(WATCH_SILENCE_MS + 1));
    expect(subject.size).toBe(0);
  });

  it.each(["rw.agent.web.down", "_INBOX.*", "_INBOX.>", "_INBOX", "_INBOX. x"])(
    "refuses to publish to %s",
    (inbox) => {
      const subject = server();
      const [effect] = subject.open("r", inbox, { at: 0 }, at(0));
      expect(subject.size).toBe(0);
      const payload = effect?.kind === "reply" ? effect.payload : new Uint8Array();
      expect(fromBinary(WatchResponseSchema, payload).error?.code).toBe("invalid");
    },
  );

  it("refuses more streams than its limit", () => {
    const subject = server();
    for (let i = 0; i <= WATCH_LIMIT; i += 1) {
      subject.open("r", "_INBOX.x", { at: 0 }, at(0));
    }
    expect(subject.size).toBe(WATCH_LIMIT);
  });
});
