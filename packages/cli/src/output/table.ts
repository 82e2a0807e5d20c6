import { visibleLength } from "./paint.ts";

/** One column: its title and how a cell is read from a row. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** Default left. */
  readonly align?: "left" | "right";
  /** Cut this column first when the table is wider than the terminal. */
  readonly flexible?: boolean;
}

const GAP = 2;
const SMALLEST_FLEXIBLE = 12;

function pad(text: string, width: number, align: "left" | "right"): string {
  const fill = " ".repeat(Math.max(0, width - visibleLength(text)));
  return align === "right" ? fill + text : text + fill;
}

/** Cuts plain text to a width and marks the cut; coloured text is returned as it is. */
export function cut(text: string, width: number): string {
  const length = visibleLength(text);
  if (length <= width || length !== [...text].length) return text;
  return `${[...text].slice(0, Math.max(0, width - 1)).join("")}…`;
}

function fit(widths: number[], flexible: readonly boolean[], available: number): void {
  const total = () => widths.reduce((sum, width) => sum + width, 0) + GAP * (widths.length - 1);
  flexible.forEach((isFlexible, index) => {
    const width = widths[index] ?? 0;
    const excess = total() - available;
    if (!isFlexible || excess <= 0) return;
    widths[index] = Math.max(Math.min(width, SMALLEST_FLEXIBLE), width - excess);
  });
}

/** A host's words may have several lines; a table has one per row. */
function oneLine(text: string): string {
  return text.includes("\n") ? text.replace(/\s*\n\s*/g, " ").trim() : text;
}

/**
 * Aligned columns without lines, a title row first. Flexible columns are cut to `availableColumns`;
 * trailing blanks are removed, so that the output can be compared and piped.
 */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  availableColumns: number = Number.POSITIVE_INFINITY,
): string[] {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.cell(row))));
  const widths = columns.map((column, index) =>
    Math.max(visibleLength(column.title), ...cells.map((row) => visibleLength(row[index] ?? ""))),
  );
  fit(
    widths,
    columns.map((column) => column.flexible === true),
    availableColumns,
  );
  const line = (row: readonly string[]) =>
    columns
      .map((column, index) => {
        const width = widths[index] ?? 0;
        return pad(cut(row[index] ?? "", width), width, column.align ?? "left");
      })
      .join(" ".repeat(GAP))
      .trimEnd();
  return [line(columns.map((column) => column.title)), ...cells.map(line)];
}
