import type { WorkloadSpec } from "@ringwall/render";
import { type Cell, targetText } from "../lab/matrix.ts";
import type { Out } from "../output/out.ts";

/** One look at everything. */
export interface Picture {
  readonly workloads: readonly WorkloadSpec[];
  readonly modes: ReadonlyMap<string, string>;
  readonly cells: readonly Cell[];
  readonly declared: ReadonlySet<Cell>;
  readonly observed: ReadonlySet<Cell>;
}

/** The connections whose observation is not what is declared. */
export function mismatches({ cells, declared, observed }: Picture): readonly Cell[] {
  return cells.filter((cell) => declared.has(cell) !== observed.has(cell));
}

/** The matrix: callers in rows, called ones in columns, one sign for each pair. */
export function pictureLines(out: Out, picture: Picture): string[] {
  const { paint } = out;
  const { workloads, modes, cells } = picture;
  const wrong = mismatches(picture);
  const width = Math.max(...workloads.map(({ id }) => id.length));
  const shown = workloads.filter(({ addresses }) => addresses.length > 0);
  const numbers = shown.map((_each, index) => String(index + 1).padStart(2));
  const byPair = Map.groupBy(cells, ({ from, to }) => `${from}>${to}`);
  const sign = (from: string, to: string): string => {
    const pair = byPair.get(`${from}>${to}`) ?? [];
    if (from === to || pair.length === 0) return "  ";
    if (pair.some((cell) => wrong.includes(cell))) return paint.red(" !");
    const open = pair.filter((cell) => picture.observed.has(cell)).length;
    if (open === 0) return paint.dim(" ·");
    return open === pair.length ? paint.yellow(" ●") : paint.green(" ◐");
  };
  return [
    `${" ".repeat(width + 4)}${numbers.join(" ")}`,
    ...shown.map(({ id }, index) => {
      const row = shown.map((to) => sign(id, to.id)).join(" ");
      return `${numbers[index]} ${id.padEnd(width)} ${row}  ${paint.dim(modes.get(id) ?? "")}`;
    }),
    "",
    `${paint.yellow("●")} every port that was tried passes   ${paint.green("◐")} some do   ${paint.dim("·")} none does   ${paint.red("!")} not as declared`,
    wrong.length === 0
      ? paint.green(`all ${cells.length} connections that were tried went as declared`)
      : paint.red(`${wrong.length} of ${cells.length} connections did not go as declared`),
    ...wrong.slice(0, 5).map((cell) => {
      const was = picture.observed.has(cell) ? "passes" : "does not pass";
      return `  ${cell.from} → ${cell.to} ${targetText(cell)} from ${cell.source} ${was}`;
    }),
  ];
}
