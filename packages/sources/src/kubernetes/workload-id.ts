import { createHash } from "node:crypto";

/** Longest workload id. */
const ID_MAX = 64;

/** Hex digits that stand for the rest of a long name. */
const DIGEST_DIGITS = 16;

/**
 * Workload id of a pod: `<namespace>_<name>`, a dot of the name as two underscores. Neither part can
 * hold an underscore of its own, so different pods have different ids. What is longer than 64 ends
 * in a digest of the whole.
 */
export function podWorkloadId(namespace: string, name: string): string {
  const id = `${namespace}_${name.replaceAll(".", "__")}`;
  if (id.length <= ID_MAX) {
    return id;
  }
  const digest = createHash("sha256").update(id).digest("hex").slice(0, DIGEST_DIGITS);
  return `${id.slice(0, ID_MAX - DIGEST_DIGITS - 1)}_${digest}`;
}
