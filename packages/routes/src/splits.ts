import { compareBytes } from "./byte-order.ts";
import type { Split } from "./model.ts";
import { serviceOf, type Tags, tagsText } from "./tags.ts";

/** A split as it is rendered. */
export interface EffectiveSplit {
  /** Canonical text of its tags, unique in a route. */
  readonly key: string;
  /** u32 above 0. */
  readonly weight: number;
  readonly tags: Tags;
}

const WEIGHT_MAX = 0xffff_ffff;

/**
 * Splits as they are rendered, by key in byte order: those of weight 0 or without a service tag are
 * dropped, weights of equal keys add up. If a sum leaves u32, all weights of the route are divided
 * by the same number, rounded, and stay at least 1, so that shares are kept.
 */
export function effectiveSplits(split: readonly Split[]): EffectiveSplit[] {
  const sums = new Map<string, EffectiveSplit>();
  for (const { weight, tags } of split) {
    if (weight === 0 || serviceOf(tags) === undefined) continue;
    const key = tagsText(tags);
    sums.set(key, { key, weight: weight + (sums.get(key)?.weight ?? 0), tags });
  }
  const sorted = [...sums.values()].sort((a, b) => compareBytes(a.key, b.key));
  const divisor = sorted.reduce((most, { weight }) => Math.max(most, weight / WEIGHT_MAX), 1);
  if (divisor === 1) return sorted;
  return sorted.map((each) => ({
    ...each,
    weight: Math.max(1, Math.round(each.weight / divisor)),
  }));
}
