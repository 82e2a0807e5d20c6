import { matches } from "@ringwall/labels";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LabelIndex } from "./label-index.ts";

const key = fc.constantFrom("app", "env", "zone");
const value = fc.constantFrom("a", "b", "c", "d");
const labels = fc.dictionary(key, value, { maxKeys: 3 });
const selector = fc.dictionary(key, fc.array(value, { maxLength: 3 }), { maxKeys: 3 });

const step = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), labels, held: fc.boolean() }),
  fc.record({ kind: fc.constant("selector" as const), selector, held: fc.boolean() }),
  fc.constant({ kind: "sweep" as const }),
);

describe("LabelIndex", () => {
  it("relates sets and selectors as the definition does, whatever came and went", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 40, maxLength: 160 }), (steps) => {
        const index = new LabelIndex();
        const sets = new Map<number, Readonly<Record<string, string>>>();
        const selectors = new Map<number, Readonly<Record<string, readonly string[]>>>();
        for (const each of steps) {
          if (each.kind === "sweep") {
            index.sweep();
          } else if (each.kind === "set") {
            const id = index.holdSet(each.labels);
            if (each.held) {
              sets.set(id, each.labels);
            } else {
              index.releaseSet(id);
            }
          } else {
            const id = index.holdSelector(each.selector);
            if (each.held) {
              selectors.set(id, each.selector);
            } else {
              index.releaseSelector(id);
            }
          }
        }
        index.sweep();
        for (const [set, of] of sets) {
          expect(Object.entries(index.labels(set)).sort()).toEqual(Object.entries(of).sort());
          const found = Array.from({ length: index.selectorCount(set) }, (_, at) =>
            index.selectorAt(set, at),
          );
          const wanted = [...selectors].flatMap(([id, spec]) => (matches(spec, of) ? id : []));
          expect(found.sort((a, b) => a - b)).toEqual(wanted.sort((a, b) => a - b));
        }
        expect(index.setTotal).toBe(sets.size);
        expect(index.selectorTotal).toBe(selectors.size);
      }),
    );
  });
});
