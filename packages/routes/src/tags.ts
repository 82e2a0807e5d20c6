import { compareBytes } from "./byte-order.ts";

/** Flat tags; in a selector the value `*` stands for any value. */
export type Tags = Readonly<Record<string, string>>;

/** Key of the tag that names the service. */
export const SERVICE_TAG = "service";

/** Selector value that any value satisfies, as the whole value only. */
export const WILDCARD = "*";

/** The service tag; undefined if there is none. An empty value is a value. */
export function serviceOf(tags: Tags): string | undefined {
  return Object.hasOwn(tags, SERVICE_TAG) ? tags[SERVICE_TAG] : undefined;
}

/**
 * True if every key of the selector is present in the tags with an equal value, or with any value
 * where the selector's is exactly `*`. Byte for byte, without patterns, trimming or alternatives.
 * The empty selector asks for nothing and matches everything.
 */
export function selectorMatches(selector: Tags, tags: Tags): boolean {
  for (const [key, wanted] of Object.entries(selector)) {
    if (!Object.hasOwn(tags, key)) return false;
    if (wanted !== WILDCARD && tags[key] !== wanted) return false;
  }
  return true;
}

/**
 * Tags of an inbound from a registry row: its service first, then the workload's labels, then the
 * row's metadata; where keys meet, the earlier wins.
 */
export function inboundTags(service: string, labels: Tags, metadata: Tags): Tags {
  return Object.fromEntries([
    ...Object.entries(metadata),
    ...Object.entries(labels),
    [SERVICE_TAG, service],
  ]);
}

/** Canonical text of tags: `key=value` joined by commas, keys in byte order. */
export function tagsText(tags: Tags): string {
  return sortedKeys(tags)
    .map((key) => `${key}=${tags[key]}`)
    .join(",");
}

/** Own keys in byte order. */
export function sortedKeys(tags: Tags): string[] {
  return Object.keys(tags).sort(compareBytes);
}
