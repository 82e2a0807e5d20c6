import { rowProblem } from "@ringwall/endpointmeta";
import { compareBytes } from "@ringwall/labels";
import type { RowSpec } from "../../model.ts";

/** What a row adds to the tags of a caller. */
export interface CallerRow {
  readonly service: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Rows that readers may use, as far as routes are chosen by them. */
export function callerRows(rows: readonly RowSpec[]): CallerRow[] {
  return rows
    .filter((row) => rowProblem(row) === "")
    .map(({ service, metadata }) => ({ service, metadata }));
}

/** A text that is equal for rows that choose equally. */
export function callerRowsText(rows: readonly CallerRow[]): string {
  const texts = rows.map(({ service, metadata }) => {
    const entries = Object.entries(metadata).sort(([a], [b]) => compareBytes(a, b));
    return JSON.stringify([service, ...entries]);
  });
  return [...new Set(texts)].sort(compareBytes).join("\n");
}
