import { percentiles } from "../harness.ts";

/** Milliseconds until an agent was done, over all agents. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** The quickest agent. */
  readonly min: number;
}

/** The spread of moments since one moment. */
export function spreadSince(sinceMs: number, moments: readonly number[]): Spread {
  const durations = moments.map((moment) => moment - sinceMs);
  return { ...percentiles(durations), min: Math.min(...durations), max: Math.max(...durations) };
}

/** The round in the middle of several, by its slowest agent. */
export function middle(rounds: readonly Spread[]): Spread {
  const sorted = [...rounds].sort((a, b) => a.max - b.max);
  return sorted[Math.floor(sorted.length / 2)] ?? { min: 0, p50: 0, p99: 0, max: 0 };
}
