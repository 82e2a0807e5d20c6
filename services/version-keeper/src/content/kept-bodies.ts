import type { VersionBatch } from "@ringwall/wire";
import { toHex } from "../log/hex.ts";

/** Bodies of one workload that are kept whatever their age. */
const KEPT_VERSIONS = 8;

/** Finds in the records of VERSIONS, taken in order, which bodies are kept besides the heads'. */
export class KeptBodies {
  readonly #sinceUnixMs: bigint;
  readonly #young = new Set<string>();
  readonly #last = new Map<string, string[]>();

  /** Every body that was in force since `sinceUnixMs` is kept. */
  constructor(sinceUnixMs: number) {
    this.#sinceUnixMs = BigInt(Math.trunc(sinceUnixMs));
  }

  /** Takes the next batch of a partition. */
  take(batch: VersionBatch): void {
    for (const { fromDigest, toDigest, advances } of batch.steps) {
      const to = toHex(toDigest);
      if (batch.timeUnixMs >= this.#sinceUnixMs) {
        this.#young.add(to);
        if (fromDigest.length > 0) {
          this.#young.add(toHex(fromDigest));
        }
      }
      for (const { workload } of advances) {
        const last = this.#last.get(workload) ?? [];
        last.push(to);
        if (last.length > KEPT_VERSIONS) {
          last.shift();
        }
        this.#last.set(workload, last);
      }
    }
  }

  /** The kept bodies in hex digits. */
  bodies(): ReadonlySet<string> {
    const kept = new Set(this.#young);
    for (const last of this.#last.values()) {
      for (const body of last) {
        kept.add(body);
      }
    }
    return kept;
  }
}
