import { fromBinary } from "@bufbuild/protobuf";
import { EffectFailed, pause, type StoredRecord, signalled, type Task } from "@ringwall/actor";
import {
  ChangeListSchema,
  type ConfigCommit,
  type ConfigRecord,
  ConfigRecordSchema,
} from "@ringwall/wire";
import type { Context } from "../context.ts";
import { toHex } from "../context.ts";
import { readBlob } from "./blobs.ts";
import { type ConfigChange, ConfigFold } from "./config-fold.ts";

/** What a feed tells its owner. */
export interface ConfigFeedEvents {
  /** A commit or an accepted state was folded. */
  readonly folded: (record: StoredRecord) => void;
  /** Something that keeps the fold from going on has come or gone. */
  readonly problem: () => void;
}

/** Follows CONFIG and folds it, record by record, reading change lists that are stored as blobs. */
export class ConfigFeed {
  readonly fold = new ConfigFold();
  readonly #context: Context;
  readonly #events: ConfigFeedEvents;
  readonly #queue: StoredRecord[] = [];
  readonly #signal: string;
  #folding = false;
  #lastSequence = 0;
  #problem: string | undefined;

  constructor(context: Context, name: string, events: ConfigFeedEvents) {
    this.#context = context;
    this.#events = events;
    this.#signal = `${name}.records`;
  }

  /** Sequence of the last record folded. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** Why the fold does not go on. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** True if every record that was taken is folded. */
  get isIdle(): boolean {
    return this.#queue.length === 0 && !this.#folding;
  }

  take(record: StoredRecord): void {
    this.#queue.push(record);
    this.#context.tasks.signal(this.#signal);
  }

  /** Folds what comes; never ends. */
  *run(): Task<void> {
    for (;;) {
      const record = this.#queue.shift();
      if (record === undefined) {
        yield* signalled(this.#signal, 60_000);
        continue;
      }
      this.#folding = true;
      yield* this.#foldRecord(record);
      this.#lastSequence = record.sequence;
      this.#folding = false;
      this.#events.folded(record);
    }
  }

  *#foldRecord({ sequence, payload }: StoredRecord): Task<void> {
    const record = decode(payload);
    switch (record?.record.case) {
      case "commit": {
        const commit = record.record.value;
        if (this.fold.isNext(commit)) {
          this.fold.commit(sequence, commit, yield* this.#changeOf(sequence, commit));
        } else {
          const words = "a commit that does not follow the head does not count";
          this.#context.outbox.log("error", words, { sequence });
        }
        return;
      }
      case "acceptState":
        this.fold.accept(record.record.value);
        return;
      default:
        yield* this.#stuck(`CONFIG record ${sequence} can't be read by this build`);
    }
  }

  /** Nothing after a record that can't be folded means anything. */
  *#stuck(problem: string): Task<never> {
    this.#say(problem);
    for (;;) {
      yield* pause(60_000);
    }
  }

  *#changeOf(sequence: number, commit: ConfigCommit): Task<ConfigChange> {
    if (commit.changesBlob.length === 0) {
      return commit;
    }
    for (;;) {
      const change = yield* this.#readChangeList(toHex(commit.changesBlob));
      if (typeof change !== "string") {
        this.#say(undefined);
        return change;
      }
      this.#say(`the change list of CONFIG record ${sequence} can't be read: ${change}`);
      yield* pause(this.#context.options.retryMs);
    }
  }

  *#readChangeList(sha256: string): Task<ConfigChange | string> {
    try {
      const reading = yield* readBlob(this.#context.names, sha256);
      return "bytes" in reading ? fromBinary(ChangeListSchema, reading.bytes) : reading.problem;
    } catch (error) {
      if (error instanceof EffectFailed) {
        return error.message;
      }
      return `it is no change list: ${String(error)}`;
    }
  }

  #say(problem: string | undefined): void {
    if (problem !== this.#problem) {
      this.#problem = problem;
      if (problem !== undefined) {
        this.#context.outbox.log("error", problem);
      }
      this.#events.problem();
    }
  }
}

function decode(payload: Uint8Array): ConfigRecord | undefined {
  try {
    return fromBinary(ConfigRecordSchema, payload);
  } catch {
    // The caller says which record it was and holds the control plane.
    return undefined;
  }
}
