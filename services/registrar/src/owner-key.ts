import { create, toBinary } from "@bufbuild/protobuf";
import { type PartitionOwner, PartitionOwnerSchema } from "@ringwall/wire";

/** Most removed workloads whose enforced mark a partition remembers; the oldest are dropped. */
export const ENFORCED_REMOVED_MAX = 512;

/**
 * The value of a partition's OWNER key. It has to be written at a take-over, after each removal
 * (whose marker expires, so that the fence would fall back), and before the removal of an enforced
 * workload, so that its return does not open the host.
 */
export class OwnerKey {
  readonly #instance: string;
  #enforcedRemoved = new Set<string>();
  #due = false;

  constructor(instance: string) {
    this.#instance = instance;
  }

  /** True if it has to be written before anything else. */
  get due(): boolean {
    return this.#due;
  }

  /** True if this id was removed while it had an enforced body. */
  wasEnforced(id: string): boolean {
    return this.#enforcedRemoved.has(id);
  }

  /** Asks for a write. */
  demand(): void {
    this.#due = true;
  }

  /** Remembers an enforced workload that is about to be removed, and asks for a write if new. */
  remember(id: string): void {
    if (!this.#enforcedRemoved.has(id)) {
      this.#enforcedRemoved.add(id);
      this.#due = true;
    }
  }

  /** Forgets a workload that is about to be removed without an enforced body. */
  forget(id: string): void {
    this.#enforcedRemoved.delete(id);
  }

  /** Takes over what the stored value remembers. */
  adopt(stored: PartitionOwner | undefined): void {
    this.#enforcedRemoved = new Set([...(stored?.enforcedRemoved ?? []), ...this.#enforcedRemoved]);
  }

  /** The value to write now. Drops the oldest memories above the limit. */
  write(wallMs: number): Uint8Array {
    const kept = [...this.#enforcedRemoved].slice(-ENFORCED_REMOVED_MAX);
    this.#enforcedRemoved = new Set(kept);
    this.#due = false;
    return toBinary(
      PartitionOwnerSchema,
      create(PartitionOwnerSchema, {
        instance: this.#instance,
        timeUnixMs: BigInt(wallMs),
        enforcedRemoved: kept,
      }),
    );
  }
}
