const BASE_MS = 1000;
const CAP_MS = 15_000;
const FLOOR_MS = 250;

/** A session that lasted this long makes the next first retry quick again. */
export const HEALTHY_MS = 60_000;

/** Time to wait before a first Hello that many agents may be about to say: within 1 s. */
export function firstDelayMs(random: () => number): number {
  return Math.ceil(random() * BASE_MS);
}

/**
 * Time to wait before Hello number `attempt` (from 0) is repeated: full jitter over an exponentially
 * growing range, within 1 s at first and 15 s at most.
 */
export function helloDelayMs(attempt: number, random: () => number): number {
  const range = Math.min(CAP_MS, BASE_MS * 2 ** Math.min(attempt, 10));
  return Math.max(FLOOR_MS, Math.ceil(random() * range));
}
