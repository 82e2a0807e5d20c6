import { createHash } from "node:crypto";
import { readLast, type Task } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import { append } from "../log/append.ts";
import { ByteCache } from "../log/byte-cache.ts";
import { COUNT_HEADER, partCount, splitParts } from "../log/parts.ts";

/** Memory for blobs that were read lately. */
const CACHE_BYTES = 64 * 1024 * 1024;

/** A blob, or why it can't be had. */
export type BlobReading =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly problem: "is not stored" | "is damaged" };

/** Reads and writes files of the live tree in BLOBS. Names are SHA-256 in hex digits. */
export class BlobStore {
  readonly #names: Names;
  readonly #cache = new ByteCache(CACHE_BYTES);

  constructor(names: Names) {
    this.#names = names;
  }

  /** Reads a whole blob and checks its digest; throws EffectFailed when the bus does not answer. */
  *read(sha256: string): Task<BlobReading> {
    const cached = this.#cache.get(sha256);
    if (cached !== undefined) {
      return { ok: true, bytes: cached };
    }
    const hash = createHash("sha256");
    const parts: Uint8Array[] = [];
    let count = 1;
    for (let index = 0; index < count; index += 1) {
      const record = yield* readLast("BLOBS", this.#names.blob(sha256, index));
      if (record === undefined) {
        return { ok: false, problem: "is not stored" };
      }
      count = index === 0 ? partCount(record) : count;
      parts.push(record.payload);
      hash.update(record.payload);
    }
    if (hash.digest("hex") !== sha256) {
      return { ok: false, problem: "is damaged" };
    }
    const only = parts[0];
    const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    this.#cache.put(sha256, bytes);
    return { ok: true, bytes };
  }

  /**
   * Stores one part unless the same bytes are there already. The bytes of a blob of one part must
   * have its digest.
   */
  *writePart(sha256: string, index: number, count: number, data: Uint8Array): Task<void> {
    const subject = this.#names.blob(sha256, index);
    const stored = yield* readLast("BLOBS", subject);
    if (stored !== undefined && partCount(stored) === count) {
      if (Buffer.compare(stored.payload, data) === 0) {
        return;
      }
    }
    const headers = { [COUNT_HEADER]: String(count) };
    yield* append({ stream: "BLOBS", subject, payload: data, headers });
    if (count === 1) {
      this.#cache.put(sha256, data);
    }
  }

  /** Stores a whole blob and returns its name. */
  *write(bytes: Uint8Array): Task<string> {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const parts = splitParts(bytes);
    for (const [index, data] of parts.entries()) {
      yield* this.writePart(sha256, index, parts.length, data);
    }
    return sha256;
  }
}
