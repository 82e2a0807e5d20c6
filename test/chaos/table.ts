import type { Measured, Scenario } from "./scenario.ts";

const WIDTHS = [24, 7, 13, 15, 16, 9] as const;

/** One line of the table. */
export interface Row extends Measured {
  readonly agents: number;
  readonly lost: number;
  readonly wrong: number;
  /** How long the scenario took, with what it runs on. */
  readonly tookMs: number;
}

/** The head of the table. */
export function header(): string {
  return line(
    ["fault", "agents", "lost updates", "wrong policies", "all at head (s)", "took (s)"],
    "",
  );
}

/** A scenario that came to its end. */
export function row(scenario: Scenario, found: Row): string {
  const counts = [found.agents, found.lost, found.wrong].map(String);
  const times = [(found.toHeadMs / 1000).toFixed(2), (found.tookMs / 1000).toFixed(0)];
  return line([scenario.name, ...counts, ...times], found.note ?? "");
}

function line(cells: readonly string[], note: string): string {
  const text = cells.map((cell, index) =>
    index === 0 ? cell.padEnd(WIDTHS[0]) : cell.padStart(WIDTHS[index] ?? 0),
  );
  return `${`${text.join("")}  ${note}`.trimEnd()}\n`;
}
