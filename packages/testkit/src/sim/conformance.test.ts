import { type Effect, type Message, type Reducer, runActor } from "@ringwall/actor";
import {
  connectBus,
  type Names,
  NatsDriver,
  purgeHeaders,
  streamSettings,
  systemClock,
} from "@ringwall/bus";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { type NatsServer, startNats } from "../nats/start-nats.ts";
import { SimBus } from "./sim-bus.ts";

/** The two kinds of streams: last value by key, and a log that keeps all. */
const SPACES = {
  REGISTRY: {
    prefix: (names: Names) => names.registryAll.slice(0, -1),
    subjects: ["w.0.alpha", "w.0.beta", "w.1.gamma", "w.0.OWNER"],
    filters: [undefined, "w.0.>", "w.1.>", "w.*.OWNER"],
    readers: [[], ["w.0.>"], ["w.0.alpha", "w.1.>"]],
  },
  VERSIONS: {
    prefix: (names: Names) => names.version(0).slice(0, -1),
    subjects: ["0", "1", "2", "3"],
    filters: [undefined, "*", "1", "2"],
    readers: [[], ["1"], ["0", "2"]],
  },
} as const;
type Space = keyof typeof SPACES;

/** One operation on a stream; `guess` is added to what the last answer suggests as expectation. */
const operation = fc.oneof(
  fc.record({
    kind: fc.constant("put" as const),
    subject: fc.nat(3),
    filter: fc.nat(3),
    fence: fc.constantFrom("none" as const, "zero" as const, "last" as const, "stale" as const),
    purge: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("read" as const), subject: fc.nat(3) }),
  fc.record({ kind: fc.constant("at" as const), sequence: fc.integer({ min: 1, max: 12 }) }),
  fc.record({
    kind: fc.constant("trim" as const),
    subject: fc.nat(3),
    below: fc.integer({ min: 1, max: 15 }),
    all: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("info" as const) }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Performs operations one after the other and writes down every answer; then follows all. */
class Conformance implements Reducer {
  readonly log: string[] = [];
  finished = false;
  readonly #prefix: string;
  readonly #stream: Space;
  readonly #operations: readonly Operation[];
  #at = 0;
  #lastSequence = 0;

  constructor(names: Names, stream: Space, operations: readonly Operation[]) {
    this.#prefix = SPACES[stream].prefix(names);
    this.#stream = stream;
    this.#operations = operations;
  }

  step(message: Message): Effect[] {
    switch (message.kind) {
      case "start":
        return this.#next();
      case "appended":
        this.#lastSequence = message.sequence;
        this.log.push(`appended ${message.sequence}`);
        return this.#next();
      case "failed":
        this.log.push(`failed ${message.code}`);
        return this.#next();
      case "read": {
        const { record } = message;
        const kv = record?.headers["KV-Operation"] ?? "";
        const payload = record === undefined ? "" : new TextDecoder().decode(record.payload);
        const subject = record?.subject.replace(this.#prefix, "");
        this.log.push(`read ${record?.sequence} ${subject} ${payload} ${kv}`);
        return this.#next();
      }
      case "stream-info":
        this.log.push(`info ${message.firstSequence} ${message.lastSequence}`);
        return this.#next();
      case "trimmed":
        this.log.push("trimmed");
        return this.#next();
      case "record":
        this.log.push(
          `${message.reader} ${message.record.sequence} ${message.record.payload.length}` +
            ` ${message.record.headers["Nats-Msg-Size"] ?? ""}`,
        );
        return [];
      case "caught-up":
        this.log.push(`${message.reader} caught up ${message.sequence}`);
        this.finished = message.reader === "three";
        return message.reader === "one"
          ? [this.#follow("two", "last-per-subject", 1)]
          : message.reader === "two"
            ? [this.#follow("three", 3, 2)]
            : [];
      case "reader-lost":
        this.log.push(`${message.reader} lost`);
        this.finished = true;
        return [];
      default:
        return [];
    }
  }

  #follow(reader: string, from: "all" | "last-per-subject" | number, which: number): Effect {
    const filters = (SPACES[this.#stream].readers[which] ?? []).map((each) => this.#prefix + each);
    const headersOnly = reader === "two" ? ({ headersOnly: true } as const) : {};
    return { kind: "follow", reader, stream: this.#stream, filters, from, ...headersOnly };
  }

  #subject(index: number): string {
    return this.#prefix + SPACES[this.#stream].subjects[index];
  }

  #next(): Effect[] {
    const operation = this.#operations[this.#at];
    this.#at += 1;
    const [tag, stream] = [`${this.#at}`, this.#stream];
    switch (operation?.kind) {
      case undefined:
        return [this.#follow("one", "all", 0)];
      case "put": {
        const { fence, purge } = operation;
        const filter = SPACES[stream].filters[operation.filter];
        const sequence = { none: 0, zero: 0, last: this.#lastSequence, stale: 1 }[fence];
        const scope = filter === undefined ? {} : { filter: this.#prefix + filter };
        return [
          {
            kind: "append",
            tag,
            stream,
            subject: this.#subject(operation.subject),
            payload: new TextEncoder().encode(tag),
            ...(purge && stream === "REGISTRY" ? { headers: purgeHeaders() } : {}),
            ...(fence === "none" ? {} : { expect: { sequence, ...scope }, write: `i:${tag}` }),
          },
        ];
      }
      case "read":
        return [{ kind: "read-last", tag, stream, subject: this.#subject(operation.subject) }];
      case "at":
        return [{ kind: "read-at", tag, stream, sequence: operation.sequence }];
      case "info":
        return [{ kind: "stream-info", tag, stream }];
      case "trim": {
        const { below, all } = operation;
        const subject = this.#subject(operation.subject);
        return [{ kind: "trim", tag, stream, subject, ...(all ? { all } : { below }) }];
      }
      default:
        return operation satisfies never;
    }
  }
}

let nats: NatsServer;
let prefixes = 0;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.stop());

async function onNats(space: Space, operations: readonly Operation[]): Promise<string[]> {
  prefixes += 1;
  const bus = await connectBus({ url: nats.url, name: "conformance", prefix: `c${prefixes}` });
  const settings = streamSettings(bus.names).get(space);
  if (settings === undefined) {
    throw new Error(`there is no stream ${space}`);
  }
  await bus.jsm.streams.add(settings);
  const telemetry = { perform: () => undefined };
  const reducer = new Conformance(bus.names, space, operations);
  const driver = new NatsDriver({ bus, clock: systemClock, telemetry, owner: "conformance" });
  const actor = runActor(reducer, driver, systemClock);
  await eventually("the end of the script", () => reducer.finished);
  await actor.stop(1000);
  await bus.jsm.streams.delete(settings.name);
  await bus.close();
  return reducer.log;
}

function inMemory(space: Space, operations: readonly Operation[], seed: number): string[] {
  const bus = new SimBus({ seed });
  const reducer = new Conformance(bus.names, space, operations);
  bus.spawn("conformance", { create: () => reducer });
  bus.runUntil("the end of the script", () => reducer.finished);
  return reducer.log;
}

describe("the simulated bus", () => {
  it.each(["REGISTRY", "VERSIONS"] as const)(
    "answers every operation on %s as a real server does",
    async (space) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(operation, { minLength: 1, maxLength: 25 }),
          fc.nat(),
          async (operations, seed) => {
            expect(inMemory(space, operations, seed)).toEqual(await onNats(space, operations));
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});
