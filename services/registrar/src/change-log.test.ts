import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChangeLog } from "./change-log.ts";
import { BitSet, IdNumbers } from "./id-numbers.ts";
import { SortedIds } from "./sorted-ids.ts";

describe("ChangeLog", () => {
  it("tells each id's latest change after a revision, in order, however often it is compacted", () => {
    const ids = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 5_000, minLength: 3_000 });
    fc.assert(
      fc.property(ids, fc.integer({ min: 0, max: 5_000 }), (changes, revision) => {
        const log = new ChangeLog();
        const latest = new Map<string, number>();
        for (const [index, each] of changes.entries()) {
          log.push(index + 1, `w-${each}`);
          latest.set(`w-${each}`, index + 1);
        }
        const wanted = [...latest]
          .map(([id, sequence]) => ({ id, sequence }))
          .filter(({ sequence }) => sequence > revision)
          .sort((a, b) => a.sequence - b.sequence);
        expect([...(log.since(revision) ?? [])]).toEqual(wanted);
      }),
      { numRuns: 20 },
    );
  });

  it("does not answer below what it forgot", () => {
    const log = new ChangeLog();
    log.push(3, "a");
    log.push(5, "b");
    log.forget("a");
    expect(log.since(2)).toBeUndefined();
    expect([...(log.since(3) ?? [])]).toEqual([{ id: "b", sequence: 5 }]);
  });
});

describe("SortedIds", () => {
  it("stays in byte order through additions and removals", () => {
    const id = fc.stringMatching(/^[a-z0-9_-]{1,4}$/);
    fc.assert(
      fc.property(fc.array(id), fc.array(fc.tuple(id, fc.boolean())), (bulk, changes) => {
        const ids = new SortedIds();
        const wanted = new Set<string>();
        for (const each of new Set(bulk)) {
          ids.add(each);
          wanted.add(each);
        }
        for (const [each, add] of changes) {
          if (!add) {
            ids.remove(each);
            wanted.delete(each);
          } else if (!wanted.has(each)) {
            ids.add(each);
            wanted.add(each);
          }
          expect(ids.size).toBe(wanted.size);
        }
        expect(ids.all()).toEqual([...wanted].sort());
        const [first = "m"] = ids.all();
        expect(ids.all()[ids.firstAfter(first)]).toBe(ids.all()[1]);
      }),
    );
  });
});

describe("IdNumbers and BitSet", () => {
  it("give released numbers again and keep each bit apart", () => {
    const numbers = new IdNumbers();
    expect(["a", "b", "a"].map((id) => numbers.of(id))).toEqual([0, 1, 0]);
    numbers.release("a");
    expect(numbers.of("c")).toBe(0);
    const bits = new BitSet();
    bits.add(31);
    bits.add(500);
    expect([30, 31, 32, 500].map((each) => bits.has(each))).toEqual([false, true, false, true]);
    bits.delete(31);
    expect(bits.has(31)).toBe(false);
  });
});
