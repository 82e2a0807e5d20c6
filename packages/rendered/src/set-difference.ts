import { type Canonical, type SetKind, sealSet } from "./brand.ts";
import { sameSet } from "./sets.ts";
import { compareText } from "./text-order.ts";

/** What leads from one canonical set to another. */
export interface SetDifference {
  /** Texts of the later set only. */
  readonly added: Canonical<string[]>;
  /** Texts of the earlier set only. */
  readonly removed: Canonical<string[]>;
}

/** Held as long as both sets are: the outer key is the earlier set, the inner one the later. */
const differences = new WeakMap<readonly string[], WeakMap<readonly string[], SetDifference>>();

/**
 * The difference of two canonical sets, undefined if they are equal. Each pair is computed once,
 * however many rules and bodies share the two sets.
 */
export function setDifference(
  from: Canonical<string[]>,
  to: Canonical<string[]>,
  kind: SetKind,
): SetDifference | undefined {
  if (from === to) return undefined;
  const known = differences.get(from)?.get(to);
  if (known !== undefined) return known;
  if (sameSet(from, to)) return undefined;
  const computed = compute(from, to, kind);
  const later = differences.get(from);
  if (later === undefined) differences.set(from, new WeakMap([[to, computed]]));
  else later.set(to, computed);
  return computed;
}

function compute(from: readonly string[], to: readonly string[], kind: SetKind): SetDifference {
  const added: string[] = [];
  const removed: string[] = [];
  let i = 0;
  let j = 0;
  while (i < from.length && j < to.length) {
    const earlier = from[i] ?? "";
    const later = to[j] ?? "";
    if (earlier === later) {
      i++;
      j++;
    } else if (compareText(earlier, later) < 0) {
      removed.push(earlier);
      i++;
    } else {
      added.push(later);
      j++;
    }
  }
  for (; i < from.length; i++) removed.push(from[i] ?? "");
  for (; j < to.length; j++) added.push(to[j] ?? "");
  return { added: sealSet(added, kind), removed: sealSet(removed, kind) };
}
