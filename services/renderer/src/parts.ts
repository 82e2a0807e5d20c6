import type { StoredRecord } from "@ringwall/actor";
import { LIMITS } from "@ringwall/render";

/** Header that names the number of parts of a stored object. */
export const COUNT_HEADER = "Rw-Count";

/** Most parts of one stored object: 128 MiB. */
const MOST_PARTS = 256;

/** Splits bytes into parts of at most one message; empty bytes are one empty part. */
export function splitParts(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let start = 0; start === 0 || start < bytes.length; start += LIMITS.messageBytes) {
    parts.push(bytes.subarray(start, start + LIMITS.messageBytes));
  }
  return parts;
}

/** Number of parts that a stored part names; undefined when the header is missing or absurd. */
export function partCount(record: StoredRecord): number | undefined {
  const count = Number(record.headers[COUNT_HEADER]);
  return Number.isSafeInteger(count) && count >= 1 && count <= MOST_PARTS ? count : undefined;
}
