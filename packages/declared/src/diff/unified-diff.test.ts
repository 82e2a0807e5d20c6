import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IGNITION, RINGWALL } from "../profile/profiles.ts";
import { Content } from "../tree/content.ts";
import { lineDiff } from "./line-diff.ts";
import { unifiedDiff } from "./unified-diff.ts";

describe("lineDiff", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 30 });

  it("holds both sides, each in its order", () => {
    fc.assert(
      fc.property(lines, lines, (older, newer) => {
        const diff = lineDiff(older, newer);
        const side = (kind: "old" | "new") =>
          diff.filter((line) => line.kind === kind || line.kind === "both").map(({ text }) => text);
        expect(side("old")).toEqual(older);
        expect(side("new")).toEqual(newer);
      }),
    );
  });

  it("changes nothing between equal texts", () => {
    fc.assert(
      fc.property(lines, (same) => lineDiff(same, same).every(({ kind }) => kind === "both")),
    );
  });

  it("shows very different texts as a replacement", () => {
    const older = Array.from({ length: 1_500 }, (_, index) => `a${index}`);
    const newer = Array.from({ length: 1_500 }, (_, index) => `b${index}`);
    expect(lineDiff(older, newer)).toHaveLength(3_000);
  });
});

describe("unifiedDiff", () => {
  const diff = (path: string, older: string, newer: string, profile = IGNITION) =>
    unifiedDiff(profile, {
      name: path,
      path,
      older: Content.ofText(older),
      newer: Content.ofText(newer),
    }).slice(2);

  it("shows hunks with three lines around each change", () => {
    const text = (changed: readonly number[]) =>
      Array.from({ length: 30 }, (_, index) => (changed.includes(index) ? "x" : `${index}`)).join(
        "\n",
      );
    expect(diff("a.css", `${text([])}\n`, `${text([10, 25])}\n`)).toEqual([
      ...["@@ -8,7 +8,7 @@", " 7", " 8", " 9", "-10", "+x", " 11", " 12", " 13"],
      ...["@@ -23,7 +23,7 @@", " 22", " 23", " 24", "-25", "+x", " 26", " 27", " 28"],
    ]);
  });

  it("says when a text does not end in a line feed", () => {
    expect(diff("a.css", "a\n", "a")).toEqual([
      ...["@@ -1,1 +1,1 @@", "-a", "+a\n\\ No newline at end of file"],
    ]);
  });

  it("replaces secrets of either side", () => {
    const path = "ignition/database-connection/A/config.json";
    const embedded = '{"password":{"type":"Embedded","data":{"c":"hunter2"}},"a":1}';
    const shown = diff(path, embedded, '{"password":"hunter3","a":2}').join("\n");
    expect(shown).not.toMatch(/hunter/);
    expect(shown).toContain('+  "a": 2');
    const texts = diff(
      "policy/x/y/x.yaml",
      "apiToken: hunter2\n",
      "apiToken: hunter3\nb: 1\n",
      RINGWALL,
    );
    expect(texts.join("\n")).not.toMatch(/hunter/);
  });

  it("says when only a secret differs, and shows no broken JSON", () => {
    const path = "ignition/database-connection/A/config.json";
    const only = diff(path, '{"password":"hunter2"}', '{"password":"hunter3"}');
    expect(only).toEqual(["differs only in a secret, or in the layout around one"]);
    expect(diff(path, '{"password":"hunter2"', "{}")).toEqual([
      "no text to show: 21 bytes, 2 bytes",
    ]);
  });

  it("shows no bytes", () => {
    expect(diff("x.bin", "a\0b", "c")).toEqual(["no text to show: 3 bytes, 1 bytes"]);
  });
});
