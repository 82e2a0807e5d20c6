import type { StoredRecord } from "@ringwall/actor";
import { RegistryClaims } from "@ringwall/bus";

const REMOVALS = new Set(["PURGE", "DEL"]);
const MARKER_REASONS = new Set(["MaxAge", "Purge", "Remove"]);

/** Which workloads the registry knows; their records are not read. */
export class RegistryIds {
  /** When partitions were taken over: tells places of another life of the stream. */
  readonly owners = new RegistryClaims();
  readonly #ids = new Set<string>();
  readonly #pattern: RegExp;
  #lastSequence = 0;

  /** `bucketPrefix` is what the subjects of the bucket's keys begin with. */
  constructor(bucketPrefix: string) {
    const escaped = bucketPrefix.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    this.#pattern = new RegExp(`^${escaped}w\\.\\d+\\.([a-z0-9_-]{1,64})$`);
  }

  /** Sequence of the last record seen. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** Notes a sequence up to which nothing is missing. */
  reached(sequence: number): void {
    this.#lastSequence = Math.max(this.#lastSequence, sequence);
  }

  /** Takes a record; the workload whose presence in the registry changed, if one's did. */
  take(record: StoredRecord): string | undefined {
    this.reached(record.sequence);
    const id = this.#pattern.exec(record.subject)?.[1];
    if (id === undefined) {
      return undefined;
    }
    const removed =
      REMOVALS.has(record.headers["KV-Operation"] ?? "") ||
      MARKER_REASONS.has(record.headers["Nats-Marker-Reason"] ?? "");
    if (removed) {
      return this.#ids.delete(id) ? id : undefined;
    }
    const known = this.#ids.has(id);
    this.#ids.add(id);
    return known ? undefined : id;
  }

  /** True if the registry has the workload. */
  has(workload: string): boolean {
    return this.#ids.has(workload);
  }

  /** Forgets everything: the bucket is another one. */
  clear(): void {
    this.#ids.clear();
    this.#lastSequence = 0;
  }
}
