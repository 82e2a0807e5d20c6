import type { StoredRecord } from "@ringwall/actor";

/** Bytes of one part of something that is stored in several messages. */
export const PART_BYTES = 512 * 1024;

/** Most parts of one stored object: 128 MiB. */
const MOST_PARTS = 256;

/** Header that names the number of parts. */
export const COUNT_HEADER = "Rw-Count";

/** Splits bytes into parts; empty bytes are one empty part. */
export function splitParts(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let start = 0; start === 0 || start < bytes.length; start += PART_BYTES) {
    parts.push(bytes.subarray(start, start + PART_BYTES));
  }
  return parts;
}

/** Number of parts that a stored part names; 0 when the header is missing or absurd. */
export function partCount(record: StoredRecord): number {
  const count = Number(record.headers[COUNT_HEADER]);
  return Number.isSafeInteger(count) && count >= 1 && count <= MOST_PARTS ? count : 0;
}
