import type { StoredRecord } from "@ringwall/actor";
import { type Names, PARTITIONS, partitionOf } from "@ringwall/bus";
import { RecordParts } from "./record-parts.ts";
import { RegistryIndexes } from "./registry-indexes.ts";
import { registryKey } from "./registry-key.ts";
import {
  isRemoval,
  readOwner,
  readRecord,
  type StoredOwner,
  type StoredWorkload,
  storedWorkload,
} from "./stored-workload.ts";

/** How long a removal's marker stays in REGISTRY: readers that were away longer start again. */
export const MARKER_TTL_MS = 24 * 3_600_000;

/** Removals younger than this are surely still marked, whatever the clocks of server and reader. */
const MARKER_SURE_MS = MARKER_TTL_MS - 3_600_000;

/** A change of one workload. */
export interface RegistryChange {
  readonly id: string;
  readonly partition: number;
  readonly before: StoredWorkload | undefined;
  readonly after: StoredWorkload | undefined;
  readonly sequence: number;
}

/** What a record did to the fold. */
export interface Folded {
  readonly partition: number;
  /** Absent if no workload changes by it. */
  readonly change: RegistryChange | undefined;
}

/**
 * The fold of REGISTRY: what every instance answers reads from. It changes only by records in
 * stream order, so its content is that of its revision.
 */
export class Registry {
  readonly indexes = new RegistryIndexes();
  readonly #names: Names;
  readonly #parts = new RecordParts();
  readonly #workloads = new Map<string, StoredWorkload>();
  readonly #partitions: Set<string>[] = Array.from({ length: PARTITIONS }, () => new Set());
  readonly #fences: number[] = new Array(PARTITIONS).fill(0);
  readonly #owners = new Map<number, StoredOwner>();
  readonly #unreadable = new Set<string>();
  #foreign = 0;
  #life = 0;
  #revision = 0;
  #sweep: Sweep | undefined;
  #contradiction: string | undefined;

  constructor(names: Names) {
    this.#names = names;
  }

  /** Sequence of the last record that it holds. */
  get revision(): number {
    return this.#revision;
  }

  /** Counts the lives of the stream that it has seen; revisions of different lives do not compare. */
  get life(): number {
    return this.#life;
  }

  /** Why what was folded before a reading of the whole stream is not of that stream; undefined if it is. */
  get contradiction(): string | undefined {
    return this.#contradiction;
  }

  get size(): number {
    return this.#workloads.size;
  }

  /** Keys whose value could not be read; the last good value stays in use. */
  get unreadable(): number {
    return this.#unreadable.size;
  }

  /** Records under keys that no registrar writes. */
  get foreign(): number {
    return this.#foreign;
  }

  get(id: string): StoredWorkload | undefined {
    return this.#workloads.get(id);
  }

  workloads(): IterableIterator<StoredWorkload> {
    return this.#workloads.values();
  }

  /** Ids of the workloads of a partition. */
  idsOf(partition: number): ReadonlySet<string> {
    return this.#partitions[partition] ?? new Set();
  }

  /** Last sequence known of a partition, for its fence. */
  fence(partition: number): number {
    return this.#fences[partition] ?? 0;
  }

  owner(partition: number): StoredOwner | undefined {
    return this.#owners.get(partition);
  }

  /** Takes a record; undefined if its key is none that a registrar writes. */
  apply(stored: StoredRecord): Folded | undefined {
    this.#revision = Math.max(this.#revision, stored.sequence);
    const key = registryKey(this.#names, stored.subject);
    if (key === undefined) {
      this.#foreign += 1;
      return undefined;
    }
    this.#sweep?.note(stored);
    const { partition } = key;
    this.#fences[partition] = Math.max(this.fence(partition), stored.sequence);
    if (key.kind === "owner") {
      this.#applyOwner(partition, stored);
      return { partition, change: undefined };
    }
    this.#sweep?.seen.add(key.id);
    return { partition, change: this.#applyWorkload(key.id, partition, stored) };
  }

  /** Begins to read the whole stream; `endSweep` removes what was not seen. */
  beginSweep(wallMs: number): void {
    this.#sweep = new Sweep(wallMs - MARKER_SURE_MS);
  }

  /** Ends the reading at `sequence` and removes what is no longer stored. */
  endSweep(sequence: number): RegistryChange[] {
    const sweep = this.#sweep;
    this.#sweep = undefined;
    this.#revision = Math.max(this.#revision, sequence);
    if (sweep === undefined) {
      return [];
    }
    this.indexes.log.raiseFloor(sweep.floor(sequence));
    this.indexes.former.raiseFloor(sequence);
    const unseen = [...this.#workloads.values()].filter(({ record }) => !sweep.seen.has(record.id));
    const [stray] = unseen.filter((each) => each.sequence > sequence);
    if (stray !== undefined) {
      this.#contradiction ??= `${stray.record.id} was at ${stray.sequence}, the stream ends at ${sequence}`;
    }
    const gone = unseen.filter((each) => each.sequence <= sequence);
    return gone.flatMap((each) => this.drop(each.record.id) ?? []);
  }

  /** Removes a workload whose removal marker has expired already. */
  drop(id: string): RegistryChange | undefined {
    return this.#remove(id, partitionOf(id), this.#revision);
  }

  /** Forgets everything: the stream was created anew or went back. */
  reset(): void {
    this.#workloads.clear();
    for (const ids of this.#partitions) {
      ids.clear();
    }
    this.#fences.fill(0);
    this.#owners.clear();
    this.#unreadable.clear();
    this.indexes.clear();
    this.#foreign = 0;
    this.#life += 1;
    this.#revision = 0;
    this.#sweep = undefined;
    this.#contradiction = undefined;
  }

  #applyWorkload(id: string, partition: number, stored: StoredRecord): RegistryChange | undefined {
    const before = this.#workloads.get(id);
    if (before !== undefined && before.sequence >= stored.sequence) {
      // A reading of the whole stream gives each key's last value: nothing newer can be known.
      if (this.#sweep !== undefined && before.sequence > stored.sequence) {
        this.#contradiction ??= `${id} was at ${before.sequence}, it is at ${stored.sequence}`;
      }
      return undefined;
    }
    if (isRemoval(stored)) {
      return this.#remove(id, partition, stored.sequence);
    }
    const record = readRecord(id, stored.payload);
    if (record === undefined) {
      this.#unreadable.add(id);
      return undefined;
    }
    this.#unreadable.delete(id);
    const { sequence } = stored;
    const after = storedWorkload(this.#parts.share(record), sequence, stored.payload.length);
    return this.#put({ id, partition, before, after, sequence });
  }

  #applyOwner(partition: number, stored: StoredRecord): void {
    const owner = readOwner(stored);
    if (owner === undefined) {
      this.#foreign += 1;
    } else {
      this.#owners.set(partition, owner);
    }
  }

  #put(change: RegistryChange & { readonly after: StoredWorkload }): RegistryChange {
    this.#workloads.set(change.id, change.after);
    this.#partitions[change.partition]?.add(change.id);
    this.indexes.change(change.before, change.after);
    this.indexes.log.push(change.sequence, change.id);
    this.#remember(change);
    return change;
  }

  #remove(id: string, partition: number, sequence: number): RegistryChange | undefined {
    this.#unreadable.delete(id);
    const before = this.#workloads.get(id);
    this.indexes.removed(sequence, id);
    if (before === undefined) {
      return undefined;
    }
    this.#workloads.delete(id);
    this.#partitions[partition]?.delete(id);
    this.indexes.change(before, undefined);
    const change = { id, partition, before, after: undefined, sequence };
    this.#remember(change);
    return change;
  }

  /** While the stream is read as a whole nothing is known of what was before. */
  #remember({ id, sequence, before, after }: RegistryChange): void {
    if (this.#sweep === undefined) {
      this.indexes.former.replaced(id, sequence, before?.record, after?.record);
    } else {
      this.indexes.former.raiseFloor(sequence);
    }
  }
}

/** One reading of the whole stream. */
class Sweep {
  readonly seen = new Set<string>();
  readonly #recentFromUnixMs: number;
  #firstRecent: number | undefined;

  constructor(recentFromUnixMs: number) {
    this.#recentFromUnixMs = recentFromUnixMs;
  }

  note(stored: StoredRecord): void {
    if (this.#firstRecent === undefined && stored.timeUnixMs >= this.#recentFromUnixMs) {
      this.#firstRecent = stored.sequence;
    }
  }

  /** Removals at or below this revision may have lost their marker before they were read. */
  floor(sequence: number): number {
    return this.#firstRecent === undefined ? sequence : this.#firstRecent - 1;
  }
}
