import { createHash } from "node:crypto";
import { compareBytes } from "./byte-order.ts";

/**
 * Version of a label set: the first 8 bytes of SHA-256 as 16 lower-case hex digits, over the texts
 * `key=value` in byte order, each followed by a NUL. Sorted as whole texts, so `a-b=x` comes before
 * `a=y`. Equal sets have equal versions whatever the order of their keys; labels outside the
 * grammar have a version too.
 */
export function labelsVersion(labels: Readonly<Record<string, string>>): string {
  const hash = createHash("sha256");
  const texts = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  for (const text of texts.sort(compareBytes)) hash.update(`${text}\0`);
  return hash.digest("hex").slice(0, 16);
}
