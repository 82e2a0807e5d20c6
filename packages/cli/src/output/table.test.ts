import { describe, expect, it } from "vitest";
import { choosePaint } from "./paint.ts";
import { renderTable } from "./table.ts";

interface Row {
  readonly name: string;
  readonly text: string;
  readonly count: string;
}

const COLUMNS = [
  { title: "NAME", cell: (row: Row) => row.name },
  { title: "COUNT", cell: (row: Row) => row.count, align: "right" as const },
  { title: "TEXT", cell: (row: Row) => row.text, flexible: true },
];

describe("renderTable", () => {
  it("aligns columns and leaves no blanks at the end of a line", () => {
    const rows = [
      { name: "web-1", count: "9", text: "" },
      { name: "db", count: "120", text: "primary" },
    ];
    expect(renderTable(COLUMNS, rows)).toEqual([
      "NAME   COUNT  TEXT",
      "web-1      9",
      "db       120  primary",
    ]);
  });

  it("cuts only flexible columns, down to the terminal's width", () => {
    const rows = [{ name: "web-1", count: "9", text: "a long text that has to be cut somewhere" }];
    const lines = renderTable(COLUMNS, rows, 34);
    expect(lines[1]).toBe("web-1      9  a long text that ha…");
    expect(lines[1]).toHaveLength(34);
  });

  it("counts coloured cells by what is seen", () => {
    const paint = choosePaint({ isTerminal: true, wanted: true, environment: {} });
    const rows = [
      { name: paint.bold("web-1"), count: "1", text: "x" },
      { name: "db", count: "1", text: "y" },
    ];
    const [, first = "", second = ""] = renderTable(COLUMNS, rows);
    expect(first.replace(paint.bold("web-1"), "web-1").indexOf("x")).toBe(second.indexOf("y"));
  });

  it("keeps a row on one line when a host's words have several", () => {
    const rows = [{ name: "web-1", count: "1", text: "refused:\n  line 3: no such set\n  ^^^" }];
    expect(renderTable(COLUMNS, rows)[1]).toBe("web-1      1  refused: line 3: no such set ^^^");
  });
});
