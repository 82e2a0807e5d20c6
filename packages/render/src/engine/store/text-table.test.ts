import { compareBytes } from "@ringwall/labels";
import { normalizeCidr } from "@ringwall/rendered";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortTexts } from "./sort-texts.ts";
import { TextTable } from "./text-table.ts";

const octet = fc.integer({ min: 0, max: 255 });
const address = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join("."));
const prefix = fc
  .tuple(address, fc.integer({ min: 0, max: 33 }))
  .map(([text, length]) => `${text}/${length}`);
const text = fc.oneof(
  address,
  prefix,
  fc.ipV6(),
  fc.ipV6().map((each) => `${each}/64`),
  fc.string({ unit: fc.constantFrom("0", "9", ".", "/", ":", "a", "f", "g", "-", "Z", "é", "𐍈") }),
  address.map((each) => `tcp/${each}:80@80`),
);

describe("TextTable", () => {
  it("gives equal texts one id, gives them back and knows their byte order", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 30 }), (texts) => {
        const table = new TextTable();
        const ids = texts.map((each) => table.hold(each));
        texts.forEach((each, index) => {
          expect(table.text(ids[index] ?? 0)).toBe(each);
          texts.forEach((other, at) => {
            const order = table.compare(ids[index] ?? 0, ids[at] ?? 0);
            expect(Math.sign(order)).toBe(Math.sign(compareBytes(each, other)));
            expect(ids[index] === ids[at]).toBe(each === other);
          });
        });
        const steps = sortTexts(Int32Array.from(new Set(ids)), table);
        let step = steps.next();
        while (!step.done) {
          step = steps.next();
        }
        const sorted = [...new Set(texts)].sort(compareBytes);
        expect(Array.from(step.value, (id) => table.text(id))).toEqual(sorted);
      }),
    );
  });

  it("interns peers in their canonical form", () => {
    fc.assert(
      fc.property(text, (each) => {
        const table = new TextTable();
        expect(table.text(table.holdCidr(each))).toBe(normalizeCidr(each));
      }),
    );
  });

  it("forgets what nobody holds, and nothing else", () => {
    fc.assert(
      fc.property(fc.uniqueArray(text, { maxLength: 200 }), fc.nat(), (texts, seed) => {
        const table = new TextTable();
        const ids = texts.map((each) => table.hold(each));
        const isKept = (index: number) => ((index + seed) * 2_654_435_761) % 3 === 0;
        ids
          .filter((_, index) => !isKept(index))
          .forEach((id) => {
            table.release(id);
          });
        table.sweep();
        const kept = texts.filter((_, index) => isKept(index));
        expect(table.size).toBe(kept.length);
        for (const [index, each] of texts.entries()) {
          if (isKept(index)) {
            expect(table.hold(each)).toBe(ids[index]);
          }
        }
      }),
    );
  });
});
