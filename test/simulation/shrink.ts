import type { Setting } from "./schedule/move.ts";
import { type Outcome, simulate } from "./simulate.ts";

/** A smaller schedule that still breaks the same invariant. */
export interface Shrunk {
  /** Steps whose actions are needed, in order. */
  readonly keep: readonly number[];
  /** Simulations that it took. */
  readonly tries: number;
}

/** What shrinking may cost. */
export interface ShrinkBudget {
  readonly tries: number;
  /** By `performance.now()`. */
  readonly untilMs: number;
}

/**
 * Delta debugging over the actions of a failed schedule: drops them in ever smaller groups as long as
 * the same invariant breaks. Time passes in the schedule as before, so that what is left means the same.
 */
export function shrink(
  seed: number,
  setting: Setting,
  failed: Outcome,
  budget: ShrinkBudget,
): Shrunk {
  const steps = setting.moves.length;
  const last = Math.min(failed.atStep, steps - 1);
  let keep = Array.from({ length: last + 1 }, (_, step) => step).filter(
    (step) => setting.moves[step]?.action.kind !== "nothing",
  );
  let tries = 0;
  const breaks = (candidate: readonly number[]): boolean => {
    tries += 1;
    const { violation } = simulate({ seed, steps, keep: new Set(candidate) }, setting);
    return violation !== undefined && violation.invariant === failed.violation?.invariant;
  };
  for (let size = Math.ceil(keep.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < keep.length; ) {
      if (tries >= budget.tries || performance.now() >= budget.untilMs) {
        return { keep, tries };
      }
      const candidate = [...keep.slice(0, start), ...keep.slice(start + size)];
      if (breaks(candidate)) {
        keep = candidate;
      } else {
        start += size;
      }
    }
  }
  return { keep, tries };
}

/** Numbers as text with ranges: `3,7-9`. */
export function formatSteps(steps: readonly number[]): string {
  const ranges: string[] = [];
  for (let at = 0; at < steps.length; ) {
    const first = steps[at] ?? 0;
    let end = at;
    while (steps[end + 1] === (steps[end] ?? 0) + 1) {
      end += 1;
    }
    ranges.push(end === at ? `${first}` : `${first}-${steps[end]}`);
    at = end + 1;
  }
  return ranges.length === 0 ? "none" : ranges.join(",");
}

/** Reads what `formatSteps` writes; throws RangeError on anything else. */
export function parseSteps(text: string): Set<number> {
  const steps = new Set<number>();
  for (const range of text === "none" ? [] : text.split(",")) {
    const match = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(range);
    if (match === null) {
      throw new RangeError(`"${range}" is no step and no range of steps such as 3-9`);
    }
    const first = Number(match[1]);
    for (let step = first; step <= Number(match[2] ?? first); step += 1) {
      steps.add(step);
    }
  }
  return steps;
}
