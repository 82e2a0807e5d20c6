import {
  EffectFailed,
  pause,
  readLast,
  type StoredRecord,
  signalled,
  type Task,
} from "@ringwall/actor";
import type { Inputs } from "@ringwall/wire";
import { ApiFailure } from "../api/api-failure.ts";
import { count, type KeeperContext, log } from "../context.ts";
import { toHex } from "../log/hex.ts";
import type { BlobStore } from "./blob-store.ts";
import { readChange, readChangeList } from "./commit-codec.ts";
import { ConfigLog } from "./config-log.ts";
import type { TreeChange } from "./live-tree.ts";

/** Signal that the fold of CONFIG has moved. */
export const CONFIG_SIGNAL = "config";

/** Wait before a change list that can't be read is tried again. */
const RETRY_MS = 5_000;

const READER = "config";

/** Keeps the fold of CONFIG up with the stream. */
export class ConfigReader {
  readonly #context: KeeperContext;
  readonly #blobs: BlobStore;
  #log = new ConfigLog();
  #turn = 0;
  #loading: number | undefined;
  #loadProblem: string | undefined;
  #caughtUp = false;

  constructor(context: KeeperContext, blobs: BlobStore) {
    this.#context = context;
    this.#blobs = blobs;
  }

  /** The fold. A re-created stream gets a new one. */
  get log(): ConfigLog {
    return this.#log;
  }

  /** True once everything that was stored at the start has been delivered. */
  get isCaughtUp(): boolean {
    return this.#caughtUp;
  }

  /** Why the fold does not go on: a damaged record, or a change list that can't be read. */
  get problem(): string | undefined {
    return this.#log.problem ?? this.#loadProblem;
  }

  /** Starts reading, from the beginning. */
  open(): void {
    this.#turn += 1;
    this.#caughtUp = false;
    this.#loadProblem = undefined;
    this.#log = new ConfigLog();
    if (this.#loading !== undefined) {
      this.#context.tasks.drop(this.#loading);
      this.#loading = undefined;
    }
    this.#context.outbox.add({
      kind: "follow",
      reader: this.#reader,
      stream: "CONFIG",
      filters: [this.#context.names.configCommit],
      from: "all",
    });
  }

  /** True if the id is the present reader's. */
  isReader(reader: string): boolean {
    return reader === this.#reader;
  }

  /** Takes a record of the stream. */
  take(record: StoredRecord): void {
    const { strays } = this.#log;
    this.#log.take(record);
    if (this.#log.strays > strays) {
      count(this.#context, "ringwall_config_strays_total");
      const fields = { sequence: record.sequence };
      log(this.#context, "error", "a commit that does not follow the head does not count", fields);
    }
    this.#moved();
  }

  /** Notes that the reader has delivered what was stored at the start. */
  caughtUp(): void {
    this.#caughtUp = true;
    this.#moved();
  }

  /**
   * Waits until the fold has everything that the stream's leader has. Throws ApiFailure `unavailable`
   * when it does not come up in time, or when the stream has less than the fold.
   */
  *catchUp(): Task<void> {
    const before = this.#log.lastSequence;
    const last = yield* readLast("CONFIG", this.#context.names.configCommit);
    const wanted = last?.sequence ?? 0;
    // What came in while the leader was asked may be above its answer; what was there before may not.
    if (before > wanted) {
      const message = `CONFIG ends at ${wanted}, this instance has read ${before}`;
      throw new ApiFailure("unavailable", message);
    }
    yield* this.reach(wanted);
  }

  /** Waits until the fold has a record; throws ApiFailure `unavailable` when it does not come up in time. */
  *reach(sequence: number): Task<void> {
    while (this.#log.lastSequence < sequence) {
      if (!(yield* signalled(CONFIG_SIGNAL, this.#context.options.catchUpMs))) {
        const detail = this.problem ?? "the reader lags";
        const message = `CONFIG is read up to ${this.#log.lastSequence} of ${sequence}: ${detail}`;
        throw new ApiFailure("unavailable", message);
      }
    }
  }

  /** True if CONFIG has the commit that the inputs name, at that sequence. */
  *hasCommit(inputs: Inputs): Task<boolean> {
    if (inputs.configSequence > this.#log.lastSequence) {
      try {
        yield* this.catchUp();
      } catch (error) {
        if (error instanceof ApiFailure) {
          throw new EffectFailed("follow", "timeout", error.message);
        }
        throw error;
      }
    }
    return (
      inputs.generation <= this.#log.generation &&
      this.#log.bySequence(Number(inputs.configSequence))?.id === toHex(inputs.commitId)
    );
  }

  get #reader(): string {
    return `${READER}.${this.#turn}`;
  }

  #moved(): void {
    const pending = this.#log.pending;
    if (pending !== undefined && this.#loading === undefined) {
      const task = this.#load(pending.changesBlob, pending.sequence);
      this.#loading = this.#context.tasks.start(task, (outcome) => {
        this.#loading = undefined;
        if (!outcome.ok) {
          throw outcome.error;
        }
        this.#log.supply(outcome.value);
        this.#moved();
      });
    }
    this.#context.tasks.signal(CONFIG_SIGNAL);
  }

  *#load(changesBlob: string, sequence: number): Task<TreeChange> {
    for (;;) {
      const change = yield* this.#tryLoad(changesBlob);
      if (typeof change !== "string") {
        this.#loadProblem = undefined;
        return change;
      }
      this.#loadProblem = `the change list of CONFIG record ${sequence} ${change}`;
      count(this.#context, "ringwall_config_unreadable_total");
      log(this.#context, "error", this.#loadProblem, { sequence });
      this.#context.tasks.signal(CONFIG_SIGNAL);
      yield* pause(RETRY_MS);
    }
  }

  *#tryLoad(changesBlob: string): Task<TreeChange | string> {
    try {
      const reading = yield* this.#blobs.read(changesBlob);
      return reading.ok ? readChange(readChangeList(reading.bytes)) : reading.problem;
    } catch (error) {
      return `can't be read: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
}
