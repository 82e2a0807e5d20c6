/** A line of a comparison: on both sides, or on one. */
export interface DiffLine {
  readonly kind: "both" | "old" | "new";
  readonly text: string;
}

/** Differences beyond this are shown as a whole replacement: the search grows with their square. */
const MOST_EDITS = 1_000;

/** Compares two texts line by line with the fewest edits (Myers, 1986). */
export function lineDiff(older: readonly string[], newer: readonly string[]): DiffLine[] {
  let head = 0;
  while (head < older.length && head < newer.length && older[head] === newer[head]) head += 1;
  let tail = 0;
  const most = Math.min(older.length, newer.length) - head;
  while (tail < most && older.at(-1 - tail) === newer.at(-1 - tail)) tail += 1;
  const a = older.slice(head, older.length - tail);
  const b = newer.slice(head, newer.length - tail);
  const both = (lines: readonly string[]) =>
    lines.map((text): DiffLine => ({ kind: "both", text }));
  return [
    ...both(older.slice(0, head)),
    ...(edits(a, b) ?? replaced(a, b)),
    ...both(older.slice(older.length - tail)),
  ];
}

function replaced(a: readonly string[], b: readonly string[]): DiffLine[] {
  return [
    ...a.map((text): DiffLine => ({ kind: "old", text })),
    ...b.map((text): DiffLine => ({ kind: "new", text })),
  ];
}

/** The shortest edit script, or undefined if it is longer than the limit. */
function edits(a: readonly string[], b: readonly string[]): DiffLine[] | undefined {
  const most = Math.min(a.length + b.length, MOST_EDITS);
  const furthest = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let distance = 0; distance <= most; distance += 1) {
    trace.push(new Map(furthest));
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      const at = (side: number) => furthest.get(diagonal + side) ?? -1;
      const down = diagonal === -distance || (diagonal !== distance && at(-1) < at(1));
      let x = down ? at(1) : at(-1) + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1;
      furthest.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) return walkBack(a, b, trace);
    }
  }
  return undefined;
}

function walkBack(
  a: readonly string[],
  b: readonly string[],
  trace: readonly ReadonlyMap<number, number>[],
): DiffLine[] {
  const lines: DiffLine[] = [];
  let x = a.length;
  let y = b.length;
  for (let distance = trace.length - 1; distance >= 0; distance -= 1) {
    const furthest = trace[distance];
    const diagonal = x - y;
    const at = (side: number) => furthest?.get(diagonal + side) ?? -1;
    const down = diagonal === -distance || (diagonal !== distance && at(-1) < at(1));
    const previous = down ? diagonal + 1 : diagonal - 1;
    const startX = Math.max(0, furthest?.get(previous) ?? 0);
    const startY = startX - previous;
    while (x > startX && y > Math.max(0, startY) && x > 0 && a[x - 1] === b[y - 1]) {
      lines.push({ kind: "both", text: a[x - 1] ?? "" });
      x -= 1;
      y -= 1;
    }
    if (distance === 0) break;
    if (down) {
      lines.push({ kind: "new", text: b[y - 1] ?? "" });
      y -= 1;
    } else {
      lines.push({ kind: "old", text: a[x - 1] ?? "" });
      x -= 1;
    }
  }
  return lines.reverse();
}
