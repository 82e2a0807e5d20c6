import { describe, expect, it } from "vitest";
import { Registry } from "../registry.ts";
import { storedRecord, storedRemoval } from "../testing/stored.ts";
import { expected, fill, NAMES, selector, WatchClient } from "../testing/watch-client.ts";
import { WatchCursor } from "./watch-cursor.ts";
import { type CompiledFilter, compileFilter } from "./workload-filter.ts";

const ANY = compileFilter(undefined);
const WEB = selector("app=web");
const WEB_OR_DB = selector("app=web|db");

function open(registry: Registry, filter: CompiledFilter, resumeRevision = 0): WatchCursor {
  return new WatchCursor(registry, {
    filter,
    resumeRevision,
    resumeFilter: undefined,
    untilMs: 1_000,
  });
}

describe("a watch", () => {
  it("sends the filter's workloads in frames of the wanted size, then the end, then nothing", () => {
    const registry = new Registry(NAMES);
    fill(registry, 1_000);
    const client = new WatchClient(open(registry, WEB));
    const cases = client.read(undefined, 6_000);
    expect(cases.length).toBeGreaterThan(5);
    expect(cases.at(-1)).toBe("endOfSnapshot");
    expect(client.known.digest()).toBe(expected(registry, WEB));
    expect(client.read()).toEqual([]);
  });

  it("removes what leaves the filter and says nothing of what never was in it", () => {
    const registry = new Registry(NAMES);
    fill(registry, 10);
    const client = new WatchClient(open(registry, WEB));
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
    const client = new WatchClient(open(registry, ANY));
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
    const client = new WatchClient(open(registry, ANY));
    client.read();
    registry.apply(storedRemoval(NAMES, 1_001, "w-7"));
    client.reopen(open(registry, ANY, Number(client.known.revision)));
    expect(client.read()).toEqual(["workloads"]);
    expect(client.known.digest()).toBe(expected(registry, ANY));
  });

  it("resumes without a word of what never was in the filter", () => {
    const registry = new Registry(NAMES);
    fill(registry, 1_000);
    const client = new WatchClient(open(registry, WEB));
    client.read();
    for (let index = 0; index < 1_000; index += 2) {
      const labels = { app: "db", changed: "yes" };
      registry.apply(storedRecord(NAMES, 1_001 + index, { id: `w-${index}`, labels }));
    }
    registry.apply(storedRemoval(NAMES, 2_100, "w-2"));
    registry.apply(storedRemoval(NAMES, 2_101, "w-1"));
    client.reopen(open(registry, WEB, Number(client.known.revision)));
    const before = client.known.ids().length;
    expect(client.read()).toEqual(["workloads"]);
    expect(client.removed).toEqual(["w-1"]);
    expect(client.known.ids()).toHaveLength(before - 1);
    registry.apply(storedRecord(NAMES, 2_102, { id: "w-4", labels: { app: "web" } }));
    client.read();
    registry.apply(storedRecord(NAMES, 2_103, { id: "w-4", labels: { app: "db" } }));
    client.read();
    expect(client.removed).toEqual(["w-1", "w-4"]);
  });

  it("sends a grown filter its new part, and takes back what a changed one lost", () => {
    const registry = new Registry(NAMES);
    fill(registry, 100);
    const client = new WatchClient(open(registry, WEB));
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
    expect(new WatchClient(open(registry, ANY, 5)).read()).toEqual(["resync"]);
    const client = new WatchClient(open(registry, ANY));
    client.read();
    registry.reset();
    expect(client.read()).toEqual(["resync"]);
  });

  it("waits for a revision that this instance has not read yet, but not for ever", () => {
    const registry = new Registry(NAMES);
    fill(registry, 10);
    const client = new WatchClient(open(registry, ANY, 12));
    expect(client.read()).toEqual([]);
    registry.apply(storedRecord(NAMES, 12, { id: "w-1" }));
    registry.apply(storedRecord(NAMES, 13, { id: "w-2" }));
    expect(client.read()).toEqual(["workloads"]);
    const never = new WatchClient(open(registry, ANY, 99));
    expect(never.read(1, 8_192, 2_000)).toEqual(["resync"]);
  });

  it("sends a changed filter's workloads that this instance reads only later", () => {
    const ahead = new Registry(NAMES);
    const behind = new Registry(NAMES);
    const record = storedRecord(NAMES, 1, { id: "w-0", labels: { app: "db" } });
    ahead.apply(record);
    const client = new WatchClient(open(ahead, WEB));
    client.read();
    client.reopen(
      new WatchCursor(behind, {
        filter: WEB_OR_DB,
        resumeRevision: 1,
        resumeFilter: WEB,
        untilMs: 1_000,
      }),
    );
    expect(client.read()).toEqual([]);
    behind.apply(record);
    expect(client.read()).toEqual(["workloads", "endOfSnapshot"]);
    expect(client.known.digest()).toBe(expected(behind, WEB_OR_DB));
  });
});
