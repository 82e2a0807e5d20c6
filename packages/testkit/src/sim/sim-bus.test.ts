import type { Effect, Message, Moment, Reducer } from "@ringwall/actor";
import { HEADER, purgeHeaders, Slots } from "@ringwall/bus";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Faults } from "./faults.ts";
import { SimBus } from "./sim-bus.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (payload: Uint8Array) => new TextDecoder().decode(payload);

/** A reducer that performs a script at its start and keeps what it sees. */
function scripted(...chains: Effect[][]): Reducer & { seen: Message[] } {
  const seen: Message[] = [];
  return {
    seen,
    step(message) {
      seen.push(message);
      return message.kind === "start"
        ? chains.map((effects): Effect => ({ kind: "fork", effects }))
        : [];
    },
  };
}

/**
 * Counts in `rw.version.<p>` for each slot that it owns, under the fence: what every service with
 * slots does at its heart.
 */
class Counter implements Reducer {
  readonly slots: Slots;
  readonly #bus: SimBus;
  readonly #instance: string;
  readonly #heads = new Map<string, { sequence: number; count: number; writing: string }>();
  #writes = 0;

  constructor(bus: SimBus, instance: string, slots: readonly string[]) {
    this.#bus = bus;
    this.#instance = instance;
    this.slots = new Slots({ names: bus.names, instance, service: "counter", slots });
  }

  step(message: Message, moment: Moment): Effect[] {
    const effects = this.slots.step(message, moment);
    const { gained, lost } = this.slots.takeChanges();
    for (const slot of lost) {
      this.#heads.delete(slot);
    }
    return [...effects, ...gained.map((slot) => this.#load(slot)), ...this.#react(message)];
  }

  #react(message: Message): Effect[] {
    if (message.kind === "read") {
      const { record } = message;
      const count = record === undefined ? 0 : Number(text(record.payload));
      if (!this.slots.owned.has(message.tag)) {
        return [];
      }
      this.#heads.set(message.tag, { sequence: record?.sequence ?? 0, count, writing: "" });
      return this.#write(message.tag);
    }
    if (message.kind === "appended") {
      const slot = message.tag.split(" ")[0] ?? "";
      const head = this.#heads.get(slot);
      // An answer to a write of before a loss says nothing about what was loaded since.
      if (head === undefined || head.writing !== message.tag) {
        return [];
      }
      head.sequence = message.sequence;
      head.count += 1;
      head.writing = "";
      return [{ kind: "timer", id: `write ${slot}`, delayMs: 100 }];
    }
    if (message.kind === "timer" && message.id.startsWith("write ")) {
      return this.#write(message.id.slice("write ".length));
    }
    if (message.kind === "failed") {
      const slot = message.tag.split(" ")[0] ?? "";
      return this.slots.owned.has(slot) ? [this.#load(slot)] : [];
    }
    return [];
  }

  #subject(slot: string): string {
    return this.#bus.names.version(Number(slot.split(".")[1]));
  }

  #load(slot: string): Effect {
    this.#heads.delete(slot);
    const subject = this.#subject(slot);
    return {
      kind: "fork",
      effects: [{ kind: "read-last", tag: slot, stream: "VERSIONS", subject }],
    };
  }

  #write(slot: string): Effect[] {
    const head = this.#heads.get(slot);
    if (head === undefined || head.writing !== "" || !this.slots.owned.has(slot)) {
      return [];
    }
    this.#writes += 1;
    const write = `${this.#instance}:${this.#writes}`;
    head.writing = `${slot} ${write}`;
    const append: Effect = {
      kind: "append",
      tag: head.writing,
      stream: "VERSIONS",
      subject: this.#subject(slot),
      payload: bytes(`${head.count + 1}`),
      expect: { sequence: head.sequence },
      write,
    };
    return [{ kind: "fork", effects: [append] }];
  }
}

const SLOTS = Array.from({ length: 6 }, (_, i) => `counter.${i}`);

function counters(bus: SimBus, instances: number) {
  return Array.from({ length: instances }, (_, i) =>
    bus.spawn(`counter-${i}`, {
      mayCrash: true,
      create: (life) => new Counter(bus, `c${i}-${life}`, SLOTS),
    }),
  );
}

function checkCounts(bus: SimBus): void {
  const counts = new Map<string, number>();
  for (const record of bus.stream("VERSIONS").records) {
    expect(Number(text(record.payload))).toBe((counts.get(record.subject) ?? 0) + 1);
    counts.set(record.subject, Number(text(record.payload)));
  }
}

describe("SimBus", () => {
  it("gives the same history for the same seed and another for another", () => {
    const history = (seed: number) => {
      const bus = new SimBus({ seed, faults: { lose: 0.1, crash: 0.001, restartMs: 500 } });
      const log: string[] = [];
      bus.onStep((actor, kind) => log.push(`${bus.nowMs.toFixed(3)} ${actor.name} ${kind}`));
      counters(bus, 3);
      bus.run(20_000);
      return log.join("\n");
    };
    expect(history(7)).toBe(history(7));
    expect(history(7)).not.toBe(history(8));
  });

  it("gives all slots to a single fresh instance within a second", () => {
    const bus = new SimBus({ seed: 1 });
    const [one] = counters(bus, 1);
    bus.runUntil("all slots", () => one?.reducer?.slots.owned.size === 6, 1000);
  });

  it("shares slots evenly and takes them over when an instance dies", () => {
    const bus = new SimBus({ seed: 1 });
    const all = counters(bus, 3);
    const sizes = () => all.map((actor) => actor.reducer?.slots.owned.size ?? 0);
    bus.runUntil("an even share", () => sizes().every((size) => size === 2), 10_000);
    all[0]?.crash();
    bus.runUntil("the take-over", () => sizes().reduce((sum, size) => sum + size) === 6, 8000);
    all[1]?.stop();
    bus.runUntil("the hand-over", () => sizes()[2] === 6, 500);
  });

  it("keeps every fenced count gapless under all faults, over many seeds", () => {
    const faults: Partial<Faults> = {
      ...{ lose: 0.05, duplicate: 0.05, reorder: 0.1, delay: 0.1, delayMs: 300 },
      ...{ noResponders: 0.05, loseAppend: 0.05, loseAck: 0.1, staleRead: 0.02 },
      ...{ crash: 0.002, restartMs: 3000 },
    };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
        const bus = new SimBus({ seed, faults });
        const all = counters(bus, 3);
        bus.run(20_000);
        all[1]?.freeze();
        bus.run(9000);
        all[1]?.thaw();
        bus.restartServer();
        bus.run(10_000);
        checkCounts(bus);
        const before = bus.stream("VERSIONS").lastSequence;
        bus.setFaults({});
        bus.run(45_000);
        checkCounts(bus);
        // Once nothing goes wrong any more, work goes on in every slot.
        expect(bus.stream("VERSIONS").lastSequence).toBeGreaterThan(before + 200);
        const owned = all.flatMap((actor) => [...(actor.reducer?.slots.owned ?? [])]);
        expect(owned.sort()).toEqual(SLOTS);
      }),
      { numRuns: 20 },
    );
  });

  it("answers a lost acknowledgement with the write that was stored", () => {
    const bus = new SimBus({ seed: 3, faults: { loseAck: 1 } });
    const reducer = scripted([
      {
        kind: "append",
        tag: "a",
        stream: "VERSIONS",
        subject: bus.names.version(0),
        payload: bytes("x"),
        expect: { sequence: 0 },
        write: "i:1",
      },
    ]);
    bus.spawn("one", { create: () => reducer });
    bus.run(1000);
    bus.setFaults({});
    bus.run(10_000);
    expect(reducer.seen.at(-1)).toEqual({ kind: "appended", tag: "a", sequence: 1 });
    expect(bus.stream("VERSIONS").lastSequence).toBe(1);
  });

  it("loses readers of a wiped or rolled-back stream, and leaves the others", () => {
    const bus = new SimBus({ seed: 4 });
    const follow = (stream: string): Effect[] => [
      { kind: "follow", reader: stream, stream, filters: [], from: "all" },
    ];
    const put = (subject: string, stream: string): Effect[] => [
      { kind: "append", tag: subject, stream, subject, payload: bytes("x") },
    ];
    const reducer = scripted(
      follow("VERSIONS"),
      follow("CONFIG"),
      follow("RENDERED"),
      put(bus.names.version(0), "VERSIONS"),
      put(bus.names.rendered(0), "RENDERED"),
      put(bus.names.configCommit, "CONFIG"),
    );
    bus.spawn("one", { create: () => reducer });
    bus.run(100);
    const copies = bus.backup();
    bus.stream("RENDERED").append(bus.names.rendered(0), bytes("y"), {}, bus.wallMs);
    bus.run(100);
    bus.wipe(["VERSIONS"]);
    bus.run(100);
    const old = copies.get("RENDERED");
    bus.restore(old === undefined ? new Map() : new Map([["RENDERED", old]]));
    bus.run(5000);
    const lost = reducer.seen.flatMap((each) => (each.kind === "reader-lost" ? [each.reader] : []));
    expect(lost.sort()).toEqual(["RENDERED", "VERSIONS"].filter((name) => lost.includes(name)));
    expect(lost).toContain("VERSIONS");
    expect(lost).not.toContain("CONFIG");
  });

  it("forgets a key when its time to live is over, and its purge when the marker's is", () => {
    const bus = new SimBus({ seed: 5 });
    const subject = bus.names.registryWorkload(0, "web");
    const registry = bus.stream("REGISTRY");
    const reducer = scripted([
      { kind: "append", tag: "put", stream: "REGISTRY", subject, payload: bytes("v") },
      {
        kind: "append",
        tag: "purge",
        stream: "REGISTRY",
        subject,
        payload: bytes(""),
        headers: purgeHeaders("60s"),
      },
    ]);
    bus.spawn("one", { create: () => reducer });
    bus.run(1000);
    expect(registry.last(subject)?.headers[HEADER.kvOperation]).toBe("PURGE");
    expect(registry.lastOf(bus.names.registryPartition(0))).toBe(2);
    bus.run(61_000);
    expect(registry.last(subject)).toBeUndefined();
    expect(registry.lastOf(bus.names.registryPartition(0))).toBe(0);
  });

  it("denies what an actor has no permission for", () => {
    const bus = new SimBus({ seed: 6 });
    const reducer = scripted(
      [{ kind: "listen", listener: "l", subject: "rw.secret.x" }],
      [{ kind: "request", tag: "r", subject: "rw.secret.x", payload: bytes(""), timeoutMs: 100 }],
    );
    bus.spawn("one", { create: () => reducer, denied: ["rw.secret.>"] });
    bus.run(1000);
    const failures = reducer.seen.filter((each) => each.kind === "failed");
    expect(failures).toHaveLength(2);
    expect(failures.every((each) => each.code === "denied")).toBe(true);
  });

  it("tries a refused subscription again", () => {
    const bus = new SimBus({ seed: 6 });
    const denied = ["rw.secret.>"];
    const listener = scripted([{ kind: "listen", listener: "l", subject: "rw.secret.x" }]);
    bus.spawn("one", { create: () => listener, denied });
    bus.run(1000);
    denied.length = 0;
    bus.run(5000);
    const talker = scripted([{ kind: "publish", subject: "rw.secret.x", payload: bytes("") }]);
    bus.spawn("two", { create: () => talker });
    bus.run(1000);
    expect(listener.seen.filter(({ kind }) => kind === "failed")).toHaveLength(1);
    expect(listener.seen.filter(({ kind }) => kind === "delivery")).toHaveLength(1);
  });

  it("keeps the order of messages between two connections unless told otherwise", () => {
    const received = (faults: Partial<Faults>) => {
      const bus = new SimBus({ seed: 9, faults });
      const got: string[] = [];
      bus.subscribe("x", ({ payload }) => got.push(text(payload)));
      for (let i = 0; i < 200; i += 1) {
        bus.publish("x", bytes(`${i}`));
      }
      bus.run(1000);
      return got;
    };
    const sent = Array.from({ length: 200 }, (_, i) => `${i}`);
    expect(received({})).toEqual(sent);
    expect(received({ reorder: 1 })).not.toEqual(sent);
    expect(received({ reorder: 1 }).sort()).toEqual([...sent].sort());
    expect(received({ lose: 0.5 }).length).toBeLessThan(150);
    expect(received({ duplicate: 1 })).toHaveLength(400);
  });
});
