import { names } from "@ringwall/bus";
import { Presence } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { Registry } from "./registry.ts";
import { storedRecord, storedRemoval } from "./testing/stored.ts";

const NAMES = names("t");
const DAY_MS = 24 * 3_600_000;

function registry(): Registry {
  return new Registry(NAMES);
}

describe("the fold of REGISTRY", () => {
  it("takes each change once and in the order of the stream", () => {
    const fold = registry();
    const first = storedRecord(NAMES, 5, { id: "a", labels: { v: "1" } });
    expect(fold.apply(first)?.change?.after?.sequence).toBe(5);
    expect(fold.apply(first)?.change).toBeUndefined();
    expect(fold.apply(storedRecord(NAMES, 4, { id: "a", labels: { v: "0" } }))?.change).toBe(
      undefined,
    );
    expect(fold.get("a")?.record.labels).toEqual({ v: "1" });
    expect(fold.revision).toBe(5);
  });

  it("counts keys that no registrar writes and goes on", () => {
    const fold = registry();
    const record = storedRecord(NAMES, 1, { id: "a" });
    for (const key of ["w.99.a", "w.1.A", "x.1.a", "w.x.a", "w.1.a.b"]) {
      const subject = `${NAMES.registryAll.slice(0, -1)}${key}`;
      expect(fold.apply({ ...record, subject })).toBeUndefined();
    }
    const misplaced = NAMES.registryWorkload(0, "a");
    fold.apply({ ...record, subject: misplaced });
    expect(fold.foreign).toBe(6);
    expect(fold.size).toBe(0);
  });

  it("keeps the last good value where the new one can't be read", () => {
    const fold = registry();
    fold.apply(storedRecord(NAMES, 1, { id: "a", labels: { v: "1" } }));
    const broken = { ...storedRecord(NAMES, 2, { id: "a" }), payload: new Uint8Array([255]) };
    expect(fold.apply(broken)?.change).toBeUndefined();
    expect(fold.unreadable).toBe(1);
    expect(fold.get("a")?.record.labels).toEqual({ v: "1" });
    fold.apply(storedRecord(NAMES, 3, { id: "a" }));
    expect(fold.unreadable).toBe(0);
  });

  it("filters untyped rows, counts them by reason and forgets them when they are repaired", () => {
    const fold = registry();
    const row = { service: "a/web", port: 80, ports: [80], portClasses: { 80: 1 as const } };
    fold.apply(storedRecord(NAMES, 1, { id: "a", rows: [row, { ...row, portClasses: {} }] }));
    expect(fold.get("a")?.served.rows).toHaveLength(1);
    expect(fold.get("a")?.record.rows).toHaveLength(2);
    expect(fold.indexes.refusedRows("no_port_protocols")).toBe(1);
    fold.apply(storedRecord(NAMES, 2, { id: "a", rows: [row] }));
    expect(fold.indexes.refusedRows("no_port_protocols")).toBe(0);
    expect(fold.indexes.withRefused.size).toBe(0);
  });

  it("counts claims of an address by workload: removing one never removes the other's", () => {
    const fold = registry();
    const { claims } = fold.indexes;
    const at = (sequence: number, id: string, addresses: string[], presence?: Presence) =>
      fold.apply(
        storedRecord(NAMES, sequence, { id, addresses, presence: presence ?? Presence.LIVE }),
      );
    at(1, "a", ["10.0.0.1"]);
    at(2, "b", ["10.0.0.1", "10.0.0.2"]);
    expect(claims.contested).toEqual(["10.0.0.1"]);
    expect(claims.claimants("10.0.0.1", 9)).toEqual(["a", "b"]);
    fold.apply(storedRemoval(NAMES, 3, "a"));
    expect(claims.contested).toEqual([]);
    expect(claims.claimants("10.0.0.1", 9)).toEqual(["b"]);
    at(4, "a", ["10.0.0.2"]);
    expect(claims.contested).toEqual(["10.0.0.2"]);
    at(5, "a", ["10.0.0.2"], Presence.EXPIRED);
    expect(claims.contested).toEqual([]);
  });

  it("removes what a second reading does not find, and nothing that is newer", () => {
    const fold = registry();
    for (const [index, id] of ["a", "b", "c"].entries()) {
      fold.apply(storedRecord(NAMES, index + 1, { id }));
    }
    fold.beginSweep(0);
    fold.apply(storedRecord(NAMES, 1, { id: "a" }));
    fold.apply(storedRecord(NAMES, 9, { id: "c" }));
    expect(fold.endSweep(8).map((change) => change.id)).toEqual(["b"]);
    expect(fold.indexes.ids.all()).toEqual(["a", "c"]);
  });

  it.each([
    ["holds an older value of a key", [storedRecord(NAMES, 5, { id: "a" })]],
    ["ends before a key that it does not hold", []],
  ])("knows that a stream is not the one that was read when it %s", (_what, records) => {
    const fold = registry();
    fold.apply(storedRecord(NAMES, 9, { id: "a" }));
    fold.beginSweep(0);
    for (const record of records) {
      fold.apply(record);
    }
    fold.endSweep(6);
    expect(fold.contradiction).toContain("a was at 9");
    fold.reset();
    expect(fold.contradiction).toBeUndefined();
  });

  it("answers resumes only from where no removal can have been missed", () => {
    const fold = registry();
    fold.beginSweep(10 * DAY_MS);
    fold.apply({ ...storedRecord(NAMES, 3, { id: "old" }), timeUnixMs: DAY_MS });
    fold.apply({ ...storedRecord(NAMES, 7, { id: "new" }), timeUnixMs: 10 * DAY_MS - 1_000 });
    fold.endSweep(8);
    expect(fold.indexes.log.since(5)).toBeUndefined();
    expect([...(fold.indexes.log.since(6) ?? [])]).toEqual([{ id: "new", sequence: 7 }]);
  });
});
