import type { Configuration } from "../model.ts";
import { sameValue } from "./store/same-value.ts";

/** Units of one list that came, changed or went. What went is to go first, so that it is out of the way. */
export interface UnitChanges<T> {
  /** Names of units that went. */
  readonly gone: readonly string[];
  /** Units that came or changed. */
  readonly put: readonly T[];
}

/** Units of one list that differ from another one; those that are the same object cost a comparison. */
export function changedUnits<T>(
  before: readonly T[],
  after: readonly T[],
  nameOf: (spec: T) => string,
): UnitChanges<T> {
  if (before === after || before.length === 0) {
    return { gone: [], put: before === after ? [] : after };
  }
  const [left, came] =
    before.length === after.length ? differing(before, after) : betweenEnds(before, after);
  const gone = new Map<string, T>();
  for (const spec of left) {
    gone.set(nameOf(spec), spec);
  }
  const put: T[] = [];
  for (const spec of came) {
    const name = nameOf(spec);
    const former = gone.get(name);
    gone.delete(name);
    if (former === undefined || !sameValue(former, spec)) {
      put.push(spec);
    }
  }
  return { gone: [...gone.keys()], put };
}

type Pair<T> = readonly [before: readonly T[], after: readonly T[]];

/** What two lists of one length have at places where they differ. */
function differing<T>(before: readonly T[], after: readonly T[]): Pair<T> {
  const left: T[] = [];
  const came: T[] = [];
  for (let place = 0; place < before.length; place++) {
    const from = before[place];
    const to = after[place];
    if (from !== to && from !== undefined && to !== undefined) {
      left.push(from);
      came.push(to);
    }
  }
  return [left, came];
}

/** What two lists have between a common beginning and a common end. */
function betweenEnds<T>(before: readonly T[], after: readonly T[]): Pair<T> {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) {
    head += 1;
  }
  let tail = 0;
  while (head + tail < shorter && before.at(-1 - tail) === after.at(-1 - tail)) {
    tail += 1;
  }
  return [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
}

/** A configuration without any unit. */
export const EMPTY_CONFIGURATION: Configuration = {
  rulesets: [],
  services: [],
  addressGroups: [],
  routes: [],
  inventory: [],
};
