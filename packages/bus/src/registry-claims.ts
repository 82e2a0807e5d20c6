import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { PartitionOwnerSchema } from "@ringwall/wire";

/** A server whose clock is put right, or another server, may store a little earlier than before. */
const CLOCK_MS = 250;

/** A record of REGISTRY and when it was stored, Unix milliseconds. */
interface Place {
  readonly revision: number;
  readonly timeUnixMs: number;
}

/** A revision of REGISTRY with when its record was stored; 0 if that is not known. */
export interface NamedPlace {
  readonly registryRevision: bigint;
  readonly registryTimeUnixMs: bigint;
}

/**
 * When the partitions of REGISTRY were taken over, by the values of their OWNER keys. A log grows in
 * time: a place that is named and does not fit between these is of a log that went back since. The
 * record itself may say nothing any more, because a later one has replaced it.
 */
export class RegistryClaims {
  readonly #bySubject = new Map<string, readonly Place[]>();
  #places: readonly Place[] | undefined;
  /** For each place, the latest time up to it, and the earliest from it on. */
  #latest: readonly number[] = [];
  #earliest: readonly number[] = [];

  /** Takes the record of an OWNER key. One that can't be read is a place all the same. */
  take({ subject, sequence, timeUnixMs, payload }: StoredRecord): void {
    const places = [{ revision: sequence, timeUnixMs: Math.trunc(timeUnixMs) }];
    try {
      for (const claim of fromBinary(PartitionOwnerSchema, payload).claims) {
        const { revision } = claim;
        places.push({ revision: Number(revision), timeUnixMs: Number(claim.timeUnixMs) });
      }
    } catch {
      // What it remembers is lost; nothing is known by it.
    }
    this.#bySubject.set(subject, places);
    this.#places = undefined;
  }

  /** Forgets everything: the stream is another one, and is read again. */
  clear(): void {
    this.#bySubject.clear();
    this.#places = undefined;
  }

  /** True if a place can't be of this log: it was stored before what is in front of it, or after what is behind. */
  contradict({ registryRevision, registryTimeUnixMs }: NamedPlace): boolean {
    if (registryTimeUnixMs === 0n) {
      return false;
    }
    const places = this.#sorted();
    const revision = Number(registryRevision);
    const time = Number(registryTimeUnixMs);
    const behind = firstBehind(places, revision);
    const latest = this.#latest[behind - 1] ?? 0;
    const from = places[behind - 1]?.revision === revision ? behind - 1 : behind;
    const earliest = this.#earliest[from] ?? Number.POSITIVE_INFINITY;
    return latest > time + CLOCK_MS || earliest < time - CLOCK_MS;
  }

  #sorted(): readonly Place[] {
    if (this.#places === undefined) {
      const places = [...this.#bySubject.values()].flat().sort((a, b) => a.revision - b.revision);
      let latest = 0;
      this.#latest = places.map(({ timeUnixMs }) => (latest = Math.max(latest, timeUnixMs)));
      let earliest = Number.POSITIVE_INFINITY;
      this.#earliest = places
        .toReversed()
        .map(({ timeUnixMs }) => (earliest = Math.min(earliest, timeUnixMs)))
        .reverse();
      this.#places = places;
    }
    return this.#places;
  }
}

/** Index of the first place behind a revision. */
function firstBehind(places: readonly Place[], revision: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((places[middle]?.revision ?? 0) <= revision) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
