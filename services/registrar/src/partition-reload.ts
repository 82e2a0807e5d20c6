import { equals } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import { type WorkloadRecord, WorkloadRecordSchema } from "@ringwall/wire";
import type { Current } from "./operation.ts";
import type { Registry } from "./registry.ts";
import { registryKey } from "./registry-key.ts";
import { isRemoval, readOwner, readRecord, type StoredOwner } from "./stored-workload.ts";

/** What a partition holds, read anew by a reader of its own. */
export class PartitionReload {
  /** Id of the reader. */
  readonly reader: string;
  readonly #names: Names;
  readonly #found = new Map<string, Current>();
  readonly #seen = new Set<string>();
  #last = 0;
  #foldEnd = 0;
  #owner: StoredOwner | undefined;

  constructor(reader: string, names: Names) {
    this.reader = reader;
    this.#names = names;
  }

  /** Highest sequence that the partition holds: what the fence has to name. */
  get last(): number {
    return this.#last;
  }

  /** What was found, removals included; a value that can't be read is not listed. */
  get found(): ReadonlyMap<string, Current> {
    return this.#found;
  }

  /** Value of the owner key; undefined if there is none or it can't be read. */
  get owner(): StoredOwner | undefined {
    return this.#owner;
  }

  /** True if the partition holds something under this id. */
  seen(id: string): boolean {
    return this.#seen.has(id);
  }

  /** Everything was read. What the fold has by now is not behind it; removals may have expired. */
  ended(registry: Registry, partition: number): void {
    this.#foldEnd = Number(registry.owner(partition)?.place.revision ?? 0n);
    for (const id of registry.idsOf(partition)) {
      this.#foldEnd = Math.max(this.#foldEnd, registry.get(id)?.sequence ?? 0);
    }
  }

  /**
   * What of the fold can't be of the log that was read here, once a write at `sequence` was fenced by
   * its last record: nothing can have come in between. Undefined if all fits.
   */
  contradiction(registry: Registry, partition: number, sequence: number): string | undefined {
    if (this.#foldEnd > this.#last) {
      return `the partition was read up to ${this.#foldEnd}, it ends at ${this.#last}`;
    }
    const isOlder = (place: number) => place <= Math.min(registry.revision, sequence);
    for (const [id, { record, sequence: place }] of this.#found) {
      const folded = registry.get(id);
      const isNewer = (folded?.sequence ?? 0) > sequence;
      if (isOlder(place) && !isNewer && !isSame(folded?.record, record)) {
        return `${id} is another in the log, at ${place}, than it was read`;
      }
    }
    for (const id of registry.idsOf(partition)) {
      const place = registry.get(id)?.sequence ?? 0;
      if (place > this.#last && place <= sequence) {
        return `${id} was read at ${place}, the partition ends at ${this.#last}`;
      }
    }
    return undefined;
  }

  take(stored: StoredRecord): void {
    this.#last = Math.max(this.#last, stored.sequence);
    const key = registryKey(this.#names, stored.subject);
    if (key?.kind === "owner") {
      this.#owner = readOwner(stored);
    }
    if (key?.kind !== "workload") {
      return;
    }
    this.#seen.add(key.id);
    const record = isRemoval(stored) ? undefined : readRecord(key.id, stored.payload);
    if (record !== undefined || isRemoval(stored)) {
      this.#found.set(key.id, { record, sequence: stored.sequence });
    }
  }
}

function isSame(a: WorkloadRecord | undefined, b: WorkloadRecord | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equals(WorkloadRecordSchema, a, b);
}
