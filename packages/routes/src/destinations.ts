import type { Selection } from "./select.ts";
import { implicit } from "./select.ts";
import { serviceOf, type Tags } from "./tags.ts";

/** Selectors by service, and what could not be placed. */
export interface Destinations {
  /** Selectors of endpoints, by the service that they name. */
  readonly buckets: Map<string, Tags[]>;
  /** Splits without a service tag, which lead nowhere; for a metric. */
  readonly skipped: number;
}

/**
 * Where a dataplane's outbounds lead: the tags of each split of the selected routes, in the bucket
 * of the split's own service. Buckets are filled in the order of outbounds and splits, repeats are
 * kept and weights play no part. An outbound without a selection leads to the service itself; a
 * selection of a service that no outbound asks for is not used. A split without a service tag is
 * skipped and counted.
 */
export function destinations(
  outbounds: readonly string[],
  selected: ReadonlyMap<string, Pick<Selection, "split">>,
): Destinations {
  const buckets = new Map<string, Tags[]>();
  let skipped = 0;
  for (const outbound of outbounds) {
    for (const { tags } of (selected.get(outbound) ?? implicit(outbound)).split) {
      const service = serviceOf(tags);
      if (service === undefined) {
        skipped += 1;
        continue;
      }
      const bucket = buckets.get(service);
      if (bucket === undefined) buckets.set(service, [tags]);
      else bucket.push(tags);
    }
  }
  return { buckets, skipped };
}
