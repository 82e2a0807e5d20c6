import type { Configuration } from "../model.ts";
import { sameValue } from "./store/same-value.ts";

/** One unit of a list that came, changed or went. */
export interface UnitChange<T> {
  readonly name: string;
  /** Undefined if it went. */
  readonly spec: T | undefined;
}

/**
 * Units of one list that differ from another one. Both are compared by object from either end first,
 * so that a list in which one unit was replaced costs a pointer comparison per unit.
 */
export function changedUnits<T>(
  before: readonly T[],
  after: readonly T[],
  nameOf: (spec: T) => string,
): UnitChange<T>[] {
  if (before === after) {
    return [];
  }
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) {
    head += 1;
  }
  let tail = 0;
  const longer = after.length - before.length;
  for (let at = before.length - 1; at >= head && at + longer >= head; at--) {
    if (before[at] !== after[at + longer]) {
      break;
    }
    tail += 1;
  }
  const gone = new Map<string, T>();
  for (const spec of before.slice(head, before.length - tail)) {
    gone.set(nameOf(spec), spec);
  }
  const changes: UnitChange<T>[] = [];
  for (const spec of after.slice(head, after.length - tail)) {
    const name = nameOf(spec);
    const former = gone.get(name);
    gone.delete(name);
    if (former === undefined || !sameValue(former, spec)) {
      changes.push({ name, spec });
    }
  }
  // What went goes first, so that a name or a workload that somebody else takes over is free.
  return [...Array.from(gone.keys(), (name) => ({ name, spec: undefined })), ...changes];
}

/** A configuration without any unit. */
export const EMPTY_CONFIGURATION: Configuration = {
  rulesets: [],
  services: [],
  addressGroups: [],
  routes: [],
  inventory: [],
};
