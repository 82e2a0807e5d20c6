import { hash } from "node:crypto";
import { readLast, type Task } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import { partCount } from "../parts.ts";

/** A blob, or why it can't be had. */
export type BlobReading = { readonly bytes: Uint8Array } | { readonly problem: string };

/** Reads a blob from BLOBS and checks its digest; throws EffectFailed when the bus does not answer. */
export function* readBlob(names: Names, sha256: string): Task<BlobReading> {
  const parts: Uint8Array[] = [];
  for (let index = 0, count = 1; index < count; index += 1) {
    const record = yield* readLast("BLOBS", names.blob(sha256, index));
    if (record === undefined) {
      return { problem: `part ${index} of blob ${sha256} is not stored` };
    }
    count = partCount(record) ?? 1;
    parts.push(record.payload);
  }
  const bytes = parts.length === 1 ? parts[0] : undefined;
  const whole = bytes ?? Buffer.concat(parts);
  const actual = hash("sha256", whole);
  return actual === sha256 ? { bytes: whole } : { problem: `blob ${sha256} is damaged` };
}
