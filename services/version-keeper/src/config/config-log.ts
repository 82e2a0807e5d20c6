import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import {
  type AcceptState,
  type ConfigCommit,
  ConfigRecordSchema,
  type OverruledCommit,
} from "@ringwall/wire";
import { toHex } from "../log/hex.ts";
import { commitName } from "../log/inputs.ts";
import { commitId, readChange } from "./commit-codec.ts";
import { LiveTree, type TreeChange } from "./live-tree.ts";

/** A commit as the fold keeps it. Ids and digests are hex digits. */
export interface CommitEntry {
  readonly id: string;
  readonly sequence: number;
  /** Generation in force when it was appended. */
  readonly generation: bigint;
  readonly author: string;
  readonly message: string;
  readonly timeUnixMs: bigint;
  readonly change: TreeChange;
  readonly treeSha256: string;
  /** Empty when the tree has no ledger. */
  readonly ledgerSha256: string;
}

/** A commit that waits for its change list. */
export interface PendingCommit {
  readonly sequence: number;
  readonly changesBlob: string;
}

/**
 * Fold of CONFIG: commits, the live tree at the head, generation, environment and overruled commits.
 * Records are folded in order. A commit whose changes are a blob stops the fold until `supply` gives
 * them; a record that can't be read, or does not follow from those before it, stops it for good.
 */
export class ConfigLog {
  readonly tree = new LiveTree();
  readonly commits: CommitEntry[] = [];
  readonly #byId = new Map<string, CommitEntry>();
  readonly #bySequence = new Map<number, CommitEntry>();
  readonly #overruled = new Set<string>();
  readonly #queue: StoredRecord[] = [];
  #generation = 0n;
  #environment = "";
  #lastSequence = 0;
  #strays = 0;
  #waiting: { readonly commit: ConfigCommit; readonly sequence: number } | undefined;
  #problem: string | undefined;

  /** Sequence of the last record that was folded; 0 if none. The fence of the next one. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  get head(): CommitEntry | undefined {
    return this.commits.at(-1);
  }

  /** Unix milliseconds fixed by the first commit, raised by an accepted state; 0 if neither is there. */
  get generation(): bigint {
    return this.#generation;
  }

  /** Environment named by the first commit; empty if there is none. */
  get environment(): string {
    return this.#environment;
  }

  /** The commit whose change list the fold waits for. */
  get pending(): PendingCommit | undefined {
    const waiting = this.#waiting;
    return waiting === undefined
      ? undefined
      : { sequence: waiting.sequence, changesBlob: toHex(waiting.commit.changesBlob) };
  }

  /** Why the fold can't go on. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The commit with this id. */
  byId(id: string): CommitEntry | undefined {
    return this.#byId.get(id);
  }

  /** The commit at this sequence. */
  bySequence(sequence: number): CommitEntry | undefined {
    return this.#bySequence.get(sequence);
  }

  /** True if an accepted state overrules the commit, named as `<sequence>:<id>`. */
  isOverruled(name: string): boolean {
    return this.#overruled.has(name);
  }

  /**
   * Commits that do not follow the head. They count for nothing: a write that is tried again fits by its
   * sequence in a log that went back and grew again, and so it lost against the commit that is there.
   */
  get strays(): number {
    return this.#strays;
  }

  /** Takes the next record of the stream. */
  take(record: StoredRecord): void {
    this.#queue.push(record);
    this.#pump();
  }

  /** Gives the changes that `pending` asks for. */
  supply(change: TreeChange): void {
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      this.#waiting = undefined;
      this.#append(waiting.commit, waiting.sequence, change);
      this.#pump();
    }
  }

  #pump(): void {
    while (this.#waiting === undefined && this.#problem === undefined) {
      const record = this.#queue.shift();
      if (record === undefined) {
        return;
      }
      this.#fold(record);
    }
  }

  #fold(stored: StoredRecord): void {
    const { sequence } = stored;
    const record = readRecord(stored.payload);
    switch (record?.case) {
      case "commit":
        this.#foldCommit(record.value, sequence);
        break;
      case "acceptState":
        this.#foldAccept(record.value);
        this.#lastSequence = sequence;
        break;
      default:
        this.#problem = `CONFIG record ${sequence} can't be read by this build`;
    }
  }

  #foldCommit(commit: ConfigCommit, sequence: number): void {
    const id = toHex(commit.id);
    const parent = toHex(commit.parent);
    const head = this.head?.id ?? "";
    if (id !== toHex(commitId(commit))) {
      this.#problem = `CONFIG record ${sequence} is damaged: its bytes do not give its id ${id}`;
    } else if (parent !== head) {
      this.#strays += 1;
      this.#lastSequence = sequence;
    } else if (commit.changesBlob.length > 0) {
      this.#waiting = { commit, sequence };
    } else {
      this.#append(commit, sequence, readChange(commit));
    }
  }

  #append(commit: ConfigCommit, sequence: number, change: TreeChange): void {
    if (this.commits.length === 0) {
      this.#environment = commit.environment;
    }
    this.#raise(commit.generation);
    const entry: CommitEntry = {
      id: toHex(commit.id),
      sequence,
      generation: this.#generation,
      author: commit.author,
      message: commit.message,
      timeUnixMs: commit.timeUnixMs,
      change,
      treeSha256: toHex(commit.treeSha256),
      ledgerSha256: toHex(commit.ledgerSha256),
    };
    this.tree.apply(change);
    this.commits.push(entry);
    this.#byId.set(entry.id, entry);
    this.#bySequence.set(sequence, entry);
    this.#lastSequence = sequence;
  }

  #foldAccept(accept: AcceptState): void {
    this.#raise(accept.generation);
    for (const commit of accept.overruled) {
      this.#overruled.add(overruledName(commit));
    }
  }

  #raise(generation: bigint): void {
    this.#generation = generation > this.#generation ? generation : this.#generation;
  }
}

function overruledName(commit: OverruledCommit): string {
  return commitName(commit);
}

function readRecord(payload: Uint8Array) {
  try {
    return fromBinary(ConfigRecordSchema, payload).record;
  } catch {
    return undefined;
  }
}
