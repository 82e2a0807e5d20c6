import { createHash } from "node:crypto";
import { unmarshal } from "@ringwall/rendered";
import type { SnapshotChunk, WorkloadPolicy } from "@ringwall/wire";

/** Most bytes of a snapshot: the limit of a rendered policy with room for its version. */
export const SNAPSHOT_LIMIT_BYTES = 33 * 1024 * 1024;

/** Most parts of a snapshot. */
export const CHUNK_LIMIT = 1024;

/** What a part did to the snapshot that it belongs to. */
export type ChunkResult =
  | { readonly kind: "more" }
  | { readonly kind: "whole"; readonly policy: WorkloadPolicy }
  | { readonly kind: "bad"; readonly detail: string };

/** Puts a snapshot together from its parts, in order; a part of another snapshot begins anew. */
export class ChunkAssembly {
  #id = 0n;
  #count = 0;
  #parts: Uint8Array[] = [];
  #bytes = 0;

  /** Adds a part. */
  add(chunk: SnapshotChunk): ChunkResult {
    if (chunk.index === 0) {
      this.clear();
      this.#id = chunk.id;
      this.#count = chunk.count;
    }
    if (chunk.count === 0 || chunk.count > CHUNK_LIMIT) {
      return this.#bad(`snapshot has ${chunk.count} parts, at most ${CHUNK_LIMIT} are taken`);
    }
    const expected = this.#parts.length;
    if (chunk.id !== this.#id || chunk.count !== this.#count || chunk.index !== expected) {
      return this.#bad(`part ${chunk.index} of snapshot ${chunk.id} came, ${expected} was due`);
    }
    this.#bytes += chunk.data.length;
    if (this.#bytes > SNAPSHOT_LIMIT_BYTES) {
      return this.#bad(`snapshot is above ${SNAPSHOT_LIMIT_BYTES} bytes`);
    }
    this.#parts.push(chunk.data);
    return this.#parts.length < this.#count ? { kind: "more" } : this.#finish(chunk.sha256);
  }

  /** Forgets what has come so far. */
  clear(): void {
    this.#parts = [];
    this.#bytes = 0;
    this.#count = 0;
    this.#id = 0n;
  }

  #finish(sha256: Uint8Array): ChunkResult {
    const whole = Buffer.concat(this.#parts);
    if (!createHash("sha256").update(whole).digest().equals(sha256)) {
      return this.#bad("snapshot does not have the SHA-256 that its parts name");
    }
    this.clear();
    try {
      return { kind: "whole", policy: unmarshal(whole) };
    } catch (thrown) {
      return { kind: "bad", detail: `snapshot can't be read: ${String(thrown)}` };
    }
  }

  #bad(detail: string): ChunkResult {
    this.clear();
    return { kind: "bad", detail };
  }
}
