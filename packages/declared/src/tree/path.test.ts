import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IGNITION } from "../profile/profiles.ts";
import { collectionPath, repoPath } from "./mapping.ts";
import { compareBytes, isRelPath, sortPaths } from "./path.ts";

const text = fc.string({ unit: "grapheme", maxLength: 8 });

describe("compareBytes", () => {
  it("orders as the bytes of UTF-8 do", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(compareBytes(a, b)).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });

  it("is the order of sortPaths, whatever the paths hold", () => {
    fc.assert(
      fc.property(fc.array(text), (paths) => {
        expect(sortPaths([...paths])).toEqual([...paths].sort(compareBytes));
      }),
    );
  });
});

describe("isRelPath", () => {
  it("refuses a text that is no UTF-8", () => {
    expect(isRelPath("a/\ud800")).toBe(false);
  });
});

describe("repoPath", () => {
  const part = fc.constantFrom(
    "ignition",
    "tag-definition",
    "tag-group",
    "tags",
    "modes",
    "x",
    "é",
  );
  it("is undone by collectionPath", () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 4, maxLength: 6 }), (parts) => {
        const path = parts.join("/");
        expect(collectionPath(IGNITION, repoPath(IGNITION, path) ?? "")).toBe(path);
      }),
    );
  });
});
