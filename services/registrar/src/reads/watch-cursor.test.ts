import { create } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { names } from "@ringwall/bus";
import { WatchFrameSchema, WorkloadFilterSchema } from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Registry } from "../registry.ts";
import { storedRecord, storedRemoval } from "../testing/stored.ts";
import { digestOf, WatchedWorkloads } from "../testing/watched-workloads.ts";
import { WatchCursor } from "./watch-cursor.ts";
import { type CompiledFilter, compileFilter, inFilter } from "./workload-filter.ts";

const NAMES = names("t");
const ANY = compileFilter(undefined);
const WEB = selector("app=web");
const WEB_OR_DB = selector("app=web|db");

function selector(text: string): CompiledFilter {
  return compileFilter(create(WorkloadFilterSchema, { selector: text }));
}

function open(registry: Registry, filter: CompiledFilter, resumeRevision = 0): WatchCursor {
  return new WatchCursor(registry, {
    filter,
    resumeRevision,
    resumeFilter: undefined,
    untilMs: 1_000,
  });
}

/** Reads what a cursor has into a client; each stream counts its frames from 1. */
class Client {
  readonly known = new WatchedWorkloads();
  #cursor: WatchCursor;
  #seq = 0n;

  constructor(cursor: WatchCursor) {
    this.#cursor = cursor;
  }

  reopen(cursor: WatchCursor): void {
    this.#cursor = cursor;
    this.#seq = 0n;
  }

  /** Reads at most `frames` frames; false if there was one less. */
  read(frames = Number.POSITIVE_INFINITY, maxBytes = 8_192, nowMs = 0): string[] {
    const cases: string[] = [];
    for (let count = 0; count < frames; count += 1) {
      const next = this.#cursor.next(maxBytes, nowMs);
      if (next === undefined) {
        break;
      }
      this.#seq += 1n;
      const frame = create(WatchFrameSchema, { ...next, seq: this.#seq });
      this.known.take(frame);
      cases.push(frame.body.case ?? "");
      if (frame.body.case === "resync") {
        break;
      }
    }
    return cases;
  }
}

function expected(registry: Registry, filter: CompiledFilter): string {
  const stored = [...registry.workloads()].map(({ served }) => served);
  return digestOf(stored.filter((record) => inFilter(filter, record)));
}

function fill(registry: Registry, count: number): void {
  for (let index = 0; index < count; index += 1) {
    registry.apply(
      storedRecord(NAMES, index + 1, {
        id: `w-${index}`,
        labels: { app: index % 2 ? "web" : "db" },
      }),
    );
  }
}

describe("a watch", () => {
  it("sends the filter's workloads in frames of the wanted size, then the end, then nothing", () => {
    const registry = new Registry(NAMES);
    fill(registry, 1_000);
    const client = new Client(open(registry, WEB));
    const cases = client.read(undefined, 6_000);
    expect(cases.length).toBeGreaterThan(5);
    expect(cases.at(-1)).toBe("endOfSnapshot");
    expect(client.known.digest()).toBe(expected(registry, WEB));
    expect(client.read()).toEqual([]);
  });

  it("removes what leaves the filter and says nothing of what never was in it", () => {
    const registry = new Registry(NAMES);
    fill(registry, 10);
    const client = new Client(open(registry, WEB));
    client.read();
    registry.apply(storedRecord(NAMES, 11, { id: "w-0", labels: { app: "api" } }));
    registry.apply(storedRecord(NAMES, 12, { id: "new", labels: { app: "db" } }));
    expect(client.read()).toEqual([]);
    registry.apply(storedRecord(NAMES, 13, { id: "w-1", labels: { app: "api" } }));
    expect(client.read()).toEqual(["workloads"]);
    expect(client.known.digest()).toBe(expected(registry, WEB));
  });

  it("coalesces the changes of a workload for a slow client", () => {
    const registry = new Registry(NAMES);
    fill(registry, 10);
    const client = new Client(open(registry, ANY));
    client.read();
    for (let round = 0; round < 5_000; round += 1) {
      const labels = { app: "web", round: String(round) };
      registry.apply(storedRecord(NAMES, 11 + round, { id: "w-1", labels }));
    }
    expect(client.read()).toEqual(["workloads"]);
    expect(client.known.digest()).toBe(expected(registry, ANY));
  });

  it("resumes without sending everything again", () => {
    const registry = new Registry(NAMES);
    fill(registry, 1_000);
    const client = new Client(open(registry, ANY));
    client.read();
    registry.apply(storedRemoval(NAMES, 1_001, "w-7"));
    client.reopen(open(registry, ANY, Number(client.known.revision)));
    expect(client.read()).toEqual(["workloads"]);
    expect(client.known.digest()).toBe(expected(registry, ANY));
  });

  it("sends a grown filter its new part, and takes back what a changed one lost", () => {
    const registry = new Registry(NAMES);
    fill(registry, 100);
    const client = new Client(open(registry, WEB));
    client.read();
    registry.apply(storedRecord(NAMES, 101, { id: "w-1", labels: { app: "api" } }));
    const resume = (filter: CompiledFilter, resumeFilter: CompiledFilter) =>
      new WatchCursor(registry, {
        filter,
        resumeRevision: Number(client.known.revision),
        resumeFilter,
        untilMs: 0,
      });
    client.reopen(resume(WEB_OR_DB, WEB));
    client.read();
    expect(client.known.digest()).toBe(expected(registry, WEB_OR_DB));
    client.reopen(resume(selector("app=db"), WEB_OR_DB));
    client.read();
    expect(client.known.digest()).toBe(expected(registry, selector("app=db")));
  });

  it("starts again where removals may have been missed, and after the stream was lost", () => {
    const registry = new Registry(NAMES);
    registry.beginSweep(10 * 24 * 3_600_000);
    fill(registry, 10);
    registry.endSweep(10);
    expect(new Client(open(registry, ANY, 5)).read()).toEqual(["resync"]);
    const client = new Client(open(registry, ANY));
    client.read();
    registry.reset();
    expect(client.read()).toEqual(["resync"]);
  });

  it("waits for a revision that this instance has not read yet, but not for ever", () => {
    const registry = new Registry(NAMES);
    fill(registry, 10);
    const client = new Client(open(registry, ANY, 12));
    expect(client.read()).toEqual([]);
    registry.apply(storedRecord(NAMES, 12, { id: "w-1" }));
    registry.apply(storedRecord(NAMES, 13, { id: "w-2" }));
    expect(client.read()).toEqual(["workloads"]);
    const never = new Client(open(registry, ANY, 99));
    expect(never.read(1, 8_192, 2_000)).toEqual(["resync"]);
  });

  it("ends with a fresh list's content, killed and resumed 1,000 times under churn", () => {
    const change = fc.record({
      id: fc.integer({ min: 0, max: 60 }).map((each) => `w-${each}`),
      app: fc.constantFrom("web", "db", "api", undefined),
    });
    const round = fc.record({
      changes: fc.array(change, { maxLength: 12 }),
      frames: fc.integer({ min: 0, max: 4 }),
      instance: fc.constantFrom(0, 1),
      lag: fc.integer({ min: 0, max: 10 }),
    });
    const run = fc.record({
      filter: fc.constantFrom(ANY, WEB, WEB_OR_DB),
      rounds: fc.array(round, { minLength: 100, maxLength: 100 }),
    });
    fc.assert(
      fc.property(run, ({ filter, rounds }) => {
        const instances = [new Registry(NAMES), new Registry(NAMES)];
        const log: StoredRecord[] = [];
        const read = [0, 0];
        const feed = (instance: number, upTo: number) => {
          for (; (read[instance] ?? 0) < upTo; read[instance] = (read[instance] ?? 0) + 1) {
            const record = log[read[instance] ?? 0];
            if (record !== undefined) {
              instances[instance]?.apply(record);
            }
          }
        };
        const client = new Client(open(instances[0] ?? new Registry(NAMES), filter));
        for (const { changes, frames, instance, lag } of rounds) {
          for (const { id, app } of changes) {
            const sequence = log.length + 1;
            log.push(
              app === undefined
                ? storedRemoval(NAMES, sequence, id)
                : storedRecord(NAMES, sequence, { id, labels: { app } }),
            );
          }
          feed(instance, log.length - lag);
          const registry = instances[instance] ?? new Registry(NAMES);
          client.reopen(open(registry, filter, Number(client.known.revision)));
          client.read(frames, 600);
        }
        feed(0, log.length);
        const registry = instances[0] ?? new Registry(NAMES);
        client.reopen(open(registry, filter, Number(client.known.revision)));
        client.read();
        expect(client.known.digest()).toBe(expected(registry, filter));
      }),
      { numRuns: 10 },
    );
  });
});
