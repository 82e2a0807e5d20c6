import { hash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TextIds } from "./text-ids.ts";

const textOf = (index: number): string => hash("sha256", String(index), "hex");

describe("TextIds", () => {
  it("finds what a map finds, whatever came and went", () => {
    const toggles = fc.array(fc.nat(400), { maxLength: 1_000 });
    fc.assert(
      fc.property(toggles, (indexes) => {
        const table = new TextIds({ textOf, hashed: 2 });
        const known = new Set<number>();
        for (const index of indexes) {
          if (known.delete(index)) {
            table.remove(textOf(index), index);
          } else {
            table.add(textOf(index), index);
            known.add(index);
          }
        }
        for (let index = 0; index <= 400; index++) {
          expect(table.find(textOf(index))).toBe(known.has(index) ? index : -1);
        }
      }),
      { numRuns: 50 },
    );
  });
});
