import {
  EffectFailed,
  pause,
  type StoredRecord,
  signalled,
  slice,
  streamState,
  type Task,
} from "@ringwall/actor";
import type { CheckpointBook } from "../checkpoints/checkpoint-book.ts";
import { count, type KeeperContext, log } from "../context.ts";
import { versionSignal } from "../versions/open-partition.ts";
import type { VersionLog } from "../versions/version-log.ts";

/** Wait before a lost reader is started again. */
const AGAIN_MS = 500;

/** Longest sleep without a signal. */
const LOOK_MS = 60_000;

const CHECKPOINTS_SIGNAL = "checkpoints";

/** What the start-up of the logs works with. */
export interface LogStartParts {
  readonly context: KeeperContext;
  readonly book: CheckpointBook;
  readonly versions: VersionLog;
  /** Hears that a log is read, or a checkpoint was. */
  readonly changed: () => void;
  /** Hears of every record of VERSIONS. */
  readonly recorded: () => void;
  /** Hears that partitions became suspect. */
  readonly suspected: () => void;
}

/**
 * Reads CHECKPOINTS, then VERSIONS, and keeps both read. Partitions start from their newest whole
 * checkpoint; a checkpoint of another stream, or one that covers more than the stream has, makes its
 * partition suspect, and its owner begins an epoch.
 */
export class LogStart {
  readonly #parts: LogStartParts;
  #checkpointTurn = 0;
  #versionTurn = 0;
  #checkpointsRead = false;
  #versionsRead = false;

  constructor(parts: LogStartParts) {
    this.#parts = parts;
  }

  /** True once both logs were read to where they ended at the start. */
  get isCaughtUp(): boolean {
    return this.#checkpointsRead && this.#versionsRead;
  }

  /** Starts to read. */
  start(): void {
    this.#followCheckpoints();
    this.#run(this.#restore());
  }

  /** Takes a record if it is one of these readers'. */
  take(reader: string, record: StoredRecord): boolean {
    const { context, book, versions, changed, recorded } = this.#parts;
    if (reader.startsWith("checkpoints.")) {
      if (reader === this.#checkpointReader && !book.take(record)) {
        count(context, "ringwall_checkpoints_malformed_total");
      }
      changed();
      return true;
    }
    if (!reader.startsWith("versions.")) {
      return false;
    }
    if (reader === this.#versionReader) {
      const taken = versions.take(record);
      if (taken.kind === "malformed") {
        count(context, "ringwall_versions_malformed_total");
        log(context, "error", "a record of VERSIONS can't be read", { sequence: record.sequence });
      } else {
        context.tasks.signal(versionSignal(taken.partition));
      }
      recorded();
    }
    return true;
  }

  /** Notes that a reader has delivered what was stored at its start. */
  caughtUp(reader: string): void {
    if (reader === this.#checkpointReader) {
      this.#checkpointsRead = true;
      this.#parts.context.tasks.signal(CHECKPOINTS_SIGNAL);
    } else if (reader === this.#versionReader) {
      this.#versionsRead = true;
    }
    this.#parts.changed();
  }

  /** Notes that a reader is gone because its stream is another one. */
  readerLost(reader: string, detail: string): void {
    if (reader === this.#checkpointReader) {
      this.#run(this.#checkpointsAgain());
    } else if (reader === this.#versionReader) {
      log(this.#parts.context, "error", `VERSIONS is not the log that it was: ${detail}`);
      this.#run(this.#versionsAgain(detail));
    }
  }

  get #checkpointReader(): string {
    return `checkpoints.${this.#checkpointTurn}`;
  }

  get #versionReader(): string {
    return `versions.${this.#versionTurn}`;
  }

  #run(task: Task<void>): void {
    this.#parts.context.tasks.start(task, (outcome) => {
      if (!outcome.ok) {
        throw outcome.error;
      }
    });
  }

  *#restore(): Task<void> {
    const { book, versions } = this.#parts;
    while (!this.#checkpointsRead) {
      yield* signalled(CHECKPOINTS_SIGNAL, LOOK_MS);
    }
    const { createdUnixNs, lastSequence } = yield* this.#versionsState();
    for (const [partition, partitionLog] of versions.partitions.entries()) {
      const [newest] = book.ofPartition(partition);
      const snapshot = book.snapshot(partition);
      // What this instance has taken since goes further, unless the store went back to another life.
      if (newest === undefined || snapshot === undefined || snapshot.epoch <= partitionLog.epoch) {
        continue;
      }
      partitionLog.restore(snapshot);
      if (newest.streamCreatedUnixNs !== createdUnixNs) {
        partitionLog.suspect("VERSIONS was created anew since the checkpoint");
      } else if (newest.coveredSequence > lastSequence) {
        const covered = newest.coveredSequence;
        const reason = `VERSIONS ends at ${lastSequence}, the checkpoint covers ${covered}`;
        partitionLog.suspect(reason);
      }
      yield* slice();
    }
    book.dropHeads();
    this.#followVersions();
  }

  *#versionsState(): Task<{ createdUnixNs: bigint; lastSequence: number }> {
    for (;;) {
      try {
        return yield* streamState("VERSIONS");
      } catch (error) {
        if (!(error instanceof EffectFailed)) {
          throw error;
        }
        yield* pause(AGAIN_MS);
      }
    }
  }

  *#checkpointsAgain(): Task<void> {
    yield* pause(AGAIN_MS);
    this.#parts.book.clear();
    this.#followCheckpoints();
  }

  *#versionsAgain(detail: string): Task<void> {
    yield* pause(AGAIN_MS);
    for (const partitionLog of this.#parts.versions.partitions) {
      partitionLog.forgetPlaces();
      if (partitionLog.epoch !== 0n) {
        partitionLog.suspect(detail);
      }
    }
    this.#versionsRead = false;
    this.#parts.suspected();
    this.#checkpointsRead = false;
    this.#parts.book.clear();
    this.#parts.book.keepHeads();
    this.#followCheckpoints();
    yield* this.#restore();
  }

  #followCheckpoints(): void {
    this.#checkpointTurn += 1;
    this.#parts.context.outbox.add({
      kind: "follow",
      reader: this.#checkpointReader,
      stream: "CHECKPOINTS",
      filters: [],
      from: "last-per-subject",
    });
  }

  #followVersions(): void {
    this.#versionTurn += 1;
    this.#parts.context.outbox.add({
      kind: "follow",
      reader: this.#versionReader,
      stream: "VERSIONS",
      filters: [],
      from: "all",
    });
  }
}
