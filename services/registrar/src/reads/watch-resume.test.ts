import type { StoredRecord } from "@ringwall/actor";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Registry } from "../registry.ts";
import { storedRecord, storedRemoval } from "../testing/stored.ts";
import { expected, NAMES, selector, WatchClient } from "../testing/watch-client.ts";
import { WatchCursor } from "./watch-cursor.ts";
import { type CompiledFilter, compileFilter } from "./workload-filter.ts";

const FILTERS = [
  compileFilter(undefined),
  selector("app=web"),
  selector("app=web|db"),
  selector("app=db"),
];

/** A client that is killed and comes back, to one of two instances that lag behind each other. */
class Churn {
  readonly #instances = [new Registry(NAMES), new Registry(NAMES)] as const;
  readonly #log: StoredRecord[] = [];
  readonly #read = [0, 0];
  readonly #client: WatchClient;
  #at: 0 | 1 = 0;
  #wanted: CompiledFilter;
  /** Filter that the client's content and revision belong to. */
  #confirmed: CompiledFilter;

  constructor(filter: CompiledFilter) {
    this.#wanted = filter;
    this.#confirmed = filter;
    this.#client = new WatchClient(this.#open());
  }

  change(id: string, app: string | undefined): void {
    const sequence = this.#log.length + 1;
    this.#log.push(
      app === undefined
        ? storedRemoval(NAMES, sequence, id)
        : storedRecord(NAMES, sequence, { id, labels: { app } }),
    );
  }

  /** The instance that serves the client reads on, all but the last `lag` records. */
  feed(lag: number): void {
    for (let next = this.#read[this.#at] ?? 0; next < this.#log.length - lag; next += 1) {
      const record = this.#log[next];
      if (record !== undefined) {
        this.#instances[this.#at].apply(record);
      }
      this.#read[this.#at] = next + 1;
    }
  }

  kill(instance: 0 | 1, filter: CompiledFilter): void {
    this.#at = instance;
    // A change of filter that was begun has to be finished, or everything starts with a snapshot.
    const changing = this.#client.known.revision > 0n && this.#wanted.key !== this.#confirmed.key;
    this.#wanted = changing ? this.#wanted : filter;
    this.#client.reopen(this.#open());
  }

  read(frames: number): void {
    const cases = this.#client.read(frames, 600);
    if (cases.includes("endOfSnapshot")) {
      this.#confirmed = this.#wanted;
    }
  }

  /** Reads everything, twice as what is void has to be read again, and compares. */
  settle(): void {
    this.feed(0);
    for (let round = 0; round < 2; round += 1) {
      this.kill(this.#at, this.#wanted);
      this.read(Number.POSITIVE_INFINITY);
    }
    const wanted = expected(this.#instances[this.#at], this.#wanted);
    expect(this.#client.known.digest()).toBe(wanted);
  }

  #open(): WatchCursor {
    const resumeRevision = Number(this.#client?.known.revision ?? 0n);
    return new WatchCursor(this.#instances[this.#at], {
      filter: this.#wanted,
      resumeRevision,
      resumeFilter: resumeRevision === 0 ? undefined : this.#confirmed,
      untilMs: 1_000,
    });
  }
}

const CHANGE = fc.record({
  id: fc.integer({ min: 0, max: 60 }).map((each) => `w-${each}`),
  app: fc.constantFrom("web", "db", "api", undefined),
});

const ROUND = fc.record({
  changes: fc.array(CHANGE, { maxLength: 12 }),
  frames: fc.integer({ min: 0, max: 4 }),
  // Where it is not killed, the stream goes on at the instance that has it.
  killed: fc.boolean(),
  instance: fc.constantFrom<0 | 1>(0, 1),
  lag: fc.integer({ min: 0, max: 10 }),
  filter: fc.constantFrom(...FILTERS),
});

function churn(seesFilters: boolean, runs: number): void {
  const rounds = fc.array(ROUND, { minLength: 50, maxLength: 100, size: "max" });
  fc.assert(
    fc.property(fc.constantFrom(...FILTERS), rounds, (first, all) => {
      const run = new Churn(first);
      for (const { changes, frames, killed, instance, lag, filter } of all) {
        for (const { id, app } of changes) {
          run.change(id, app);
        }
        if (killed) {
          run.kill(instance, seesFilters ? filter : first);
        }
        run.feed(lag);
        run.read(frames);
      }
      run.settle();
    }),
    { numRuns: runs, endOnFailure: true },
  );
}

describe("a watch that is killed and resumed 1,000 times and more under churn", () => {
  it("ends with a fresh list's content", () => churn(false, 30));

  it("ends with a fresh list's content although its filter changes as well", () => churn(true, 30));
});
