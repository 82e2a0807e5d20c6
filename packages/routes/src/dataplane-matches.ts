import type { Inbound } from "./model.ts";
import { higherRank, type Rank, rank } from "./rank.ts";
import { selectorMatches, type Tags } from "./tags.ts";

/**
 * True if the tags of *one* inbound satisfy the whole selector; tags of several inbounds are never
 * pooled. Without inbounds nothing matches, not even the empty selector.
 */
export function dataplaneMatches(inbounds: readonly Inbound[], selector: Tags): boolean {
  return inbounds.some(({ tags }) => selectorMatches(selector, tags));
}

/** Best rank among the source selectors that match the dataplane; undefined if none does. */
export function sourceRank(
  sources: readonly Tags[],
  inbounds: readonly Inbound[],
): Rank | undefined {
  let best: Rank | undefined;
  for (const source of sources) {
    if (dataplaneMatches(inbounds, source)) best = higherRank(best, rank(source));
  }
  return best;
}
