import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareText } from "./index.ts";
import { sortTexts } from "./text-order.ts";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc
    .array(fc.constantFrom("a", "\ud7ff", "\ue000", "～", "😀", "\u{10ffff}"), { maxLength: 4 })
    .map((parts) => parts.join("")),
);

describe("compareText", () => {
  it("orders as the bytes of UTF-8 do", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
      { numRuns: 5000 },
    );
  });
});

describe("sortTexts", () => {
  it("sorts as the bytes of UTF-8 do, ASCII or not", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(text, fc.string())), (texts) => {
        const bytes = texts.map((item) => Buffer.from(item)).sort(Buffer.compare);
        expect(sortTexts([...texts])).toEqual(bytes.map((item) => item.toString()));
      }),
      { numRuns: 1000 },
    );
  });
});
