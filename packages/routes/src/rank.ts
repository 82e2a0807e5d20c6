import { type Tags, WILDCARD } from "./tags.ts";

/** How specific a selector is. */
export interface Rank {
  /** Tags with an exact value. */
  readonly exact: number;
  /** Tags with the value `*`. */
  readonly wildcard: number;
}

/** Rank of a selector: its tags counted by exact and wildcard values. Empty is an exact value. */
export function rank(selector: Tags): Rank {
  const values = Object.values(selector);
  const wildcard = values.filter((value) => value === WILDCARD).length;
  return { exact: values.length - wildcard, wildcard };
}

/**
 * Compares two ranks: more tags in total are more specific, at equal totals more exact ones.
 * Returns 1 if `a` is more specific, -1 if `b` is, 0 if neither.
 */
export function compareRank(a: Rank, b: Rank): -1 | 0 | 1 {
  const byTotal = a.exact + a.wildcard - (b.exact + b.wildcard);
  const order = Math.sign(byTotal === 0 ? a.exact - b.exact : byTotal);
  return order > 0 ? 1 : order < 0 ? -1 : 0;
}

/** Rank of a source and a destination together: they add up component-wise. */
export function combineRank(a: Rank, b: Rank): Rank {
  return { exact: a.exact + b.exact, wildcard: a.wildcard + b.wildcard };
}

/** The more specific of two ranks; the other if one is absent. */
export function higherRank(a: Rank | undefined, b: Rank | undefined): Rank | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareRank(a, b) >= 0 ? a : b;
}
