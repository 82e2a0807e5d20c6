import type { Profile } from "../profile/profile.ts";
import type { Content } from "../tree/content.ts";
import { type DiffLine, lineDiff } from "./line-diff.ts";
import { MaskedText } from "./masked-text.ts";

const CONTEXT_LINES = 3;

/** A file to show the difference of. */
export interface DiffFile {
  /** As it is shown. */
  readonly name: string;
  /** Path in the collection, which tells where secrets stand. */
  readonly path: string;
  readonly older?: Content;
  readonly newer?: Content;
  /** What the sides are called; default live and declared. */
  readonly sides?: readonly [older: string, newer: string];
}

/**
 * The difference of a file in the unified form, secrets replaced. Bytes that are no text are named
 * with their sizes only.
 */
export function unifiedDiff(profile: Profile, file: DiffFile): string[] {
  const { name, path, older, newer, sides: [olderSide, newerSide] = ["live", "declared"] } = file;
  const header = [
    `--- ${older === undefined ? "/dev/null" : `${olderSide}/${name}`}`,
    `+++ ${newer === undefined ? "/dev/null" : `${newerSide}/${name}`}`,
  ];
  const text = (content: Content | undefined) =>
    content === undefined ? [] : MaskedText.of(profile, path, content)?.lines;
  const from = text(older);
  const to = text(newer);
  if (from === undefined || to === undefined) {
    const size = (content: Content | undefined) => content?.size ?? 0;
    return [...header, `no text to show: ${size(older)} bytes, ${size(newer)} bytes`];
  }
  const hunks = hunksOf(lineDiff(from, to));
  if (hunks.length > 0) return [...header, ...hunks];
  return [...header, "differs only in a secret, or in the layout around one"];
}

function hunksOf(lines: readonly DiffLine[]): string[] {
  const shown: string[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    if (lines[index]?.kind === "both") continue;
    const start = Math.max(0, index - CONTEXT_LINES);
    const end = hunkEnd(lines, index);
    shown.push(...hunk(lines, start, end));
    index = end - 1;
  }
  return shown;
}

/** End of the hunk that begins with a change: where more unchanged lines follow than two contexts. */
function hunkEnd(lines: readonly DiffLine[], first: number): number {
  let last = first;
  for (let index = first; index < lines.length && index - last <= 2 * CONTEXT_LINES; index += 1) {
    if (lines[index]?.kind !== "both") last = index;
  }
  return Math.min(lines.length, last + 1 + CONTEXT_LINES);
}

function hunk(lines: readonly DiffLine[], start: number, end: number): string[] {
  const count = (from: number, to: number, side: "old" | "new") =>
    lines.slice(from, to).filter(({ kind }) => kind === "both" || kind === side).length;
  const place = (side: "old" | "new") => {
    const length = count(start, end, side);
    const before = count(0, start, side);
    return `${length === 0 ? before : before + 1},${length}`;
  };
  const signs = { both: " ", old: "-", new: "+" } as const;
  return [
    `@@ -${place("old")} +${place("new")} @@`,
    ...lines.slice(start, end).map(({ kind, text }) => `${signs[kind]}${text}`),
  ];
}
