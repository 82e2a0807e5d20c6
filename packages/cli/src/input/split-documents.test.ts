import { describe, expect, it } from "vitest";
import { splitDocuments } from "./split-documents.ts";

describe("splitDocuments", () => {
  it("gives the whole text of a file without markers", () => {
    const text = "# first\nname: a\n";
    expect(splitDocuments(text)).toEqual([{ text, lineOffset: 0 }]);
  });

  it("keeps comments and counts the lines before each document", () => {
    const text = "# licence\n---\nname: a\n# tail\n--- # second\nname: b\n";
    expect(splitDocuments(text)).toEqual([
      { text: "name: a\n# tail\n", lineOffset: 2 },
      { text: "name: b\n", lineOffset: 5 },
    ]);
  });

  it("takes content on the marker's line", () => {
    expect(splitDocuments("--- {name: a}\n---\nname: b")).toEqual([
      { text: "{name: a}\n", lineOffset: 0 },
      { text: "name: b", lineOffset: 2 },
    ]);
  });

  it("leaves out documents that hold nothing and ends one at dots", () => {
    expect(splitDocuments("---\n\n# nothing\n---\nname: a\n...\n")).toEqual([
      { text: "name: a\n", lineOffset: 4 },
    ]);
    expect(splitDocuments("")).toEqual([]);
  });

  it("does not take longer dashes or indented ones for a marker", () => {
    const text = "text: |\n  ---\n  ----\nother: ----\n";
    expect(splitDocuments(text)).toHaveLength(1);
  });
});
