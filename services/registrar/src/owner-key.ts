import { create, toBinary } from "@bufbuild/protobuf";
import { type PartitionOwner, PartitionOwnerSchema, type RegistryPlace } from "@ringwall/wire";
import { registryPlace, type StoredOwner } from "./stored-workload.ts";

/** Most removed workloads whose enforced mark a partition remembers; the oldest are dropped. */
export const ENFORCED_REMOVED_MAX = 512;

/** Most take-overs that a partition remembers; the oldest are dropped. */
export const CLAIMS_MAX = 128;

/**
 * The value of a partition's OWNER key. It has to be written at a take-over, after each removal
 * (whose marker expires, so that the fence would fall back), and before the removal of an enforced
 * workload, so that its return does not open the host.
 */
export class OwnerKey {
  readonly #instance: string;
  #enforcedRemoved = new Set<string>();
  #claims: readonly RegistryPlace[] = [];
  /** Revision of this instance's take-over while the time at which it was stored is not known. */
  #claimedAt: number | undefined;
  /** True if the key was written again meanwhile, and so without that place. */
  #lacksClaim = false;
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

  /** Takes over which removed workloads the stored value remembers. */
  adopt(stored: PartitionOwner | undefined): void {
    this.#enforcedRemoved = new Set([...(stored?.enforcedRemoved ?? []), ...this.#enforcedRemoved]);
  }

  /** Takes the partition over from what is stored: earlier take-overs are those of this log alone. */
  succeed(stored: StoredOwner | undefined): void {
    this.adopt(stored?.owner);
    this.#claimedAt = undefined;
    this.#lacksClaim = false;
    this.#claims = stored === undefined ? [] : [...stored.owner.claims, stored.place];
  }

  /** The take-over was stored. */
  claimed(revision: number): void {
    this.#claimedAt = revision;
  }

  /** A record of the partition was read: if it is the take-over, its place is remembered. */
  folded(revision: number, timeUnixMs: number): void {
    if (revision !== this.#claimedAt) {
      return;
    }
    this.#claimedAt = undefined;
    this.#claims = [...this.#claims, registryPlace(revision, timeUnixMs)];
    this.#due ||= this.#lacksClaim;
    this.#lacksClaim = false;
  }

  /** The value to write now. Drops the oldest memories above the limit. */
  write(wallMs: number): Uint8Array {
    const kept = [...this.#enforcedRemoved].slice(-ENFORCED_REMOVED_MAX);
    this.#enforcedRemoved = new Set(kept);
    this.#claims = this.#claims.slice(-CLAIMS_MAX);
    this.#lacksClaim = this.#claimedAt !== undefined;
    this.#due = false;
    return toBinary(
      PartitionOwnerSchema,
      create(PartitionOwnerSchema, {
        instance: this.#instance,
        timeUnixMs: BigInt(wallMs),
        enforcedRemoved: kept,
        claims: [...this.#claims],
      }),
    );
  }
}
