import { ask, EffectFailed, pause, streamState, type Task } from "@ringwall/actor";
import type { ConfigReader } from "../config/config-reader.ts";
import { commitInputs } from "../config/summaries.ts";
import { count, type KeeperContext, log } from "../context.ts";
import type { HeldWatch } from "../held/held-watch.ts";
import { append } from "../log/append.ts";
import { fromHex } from "../log/hex.ts";
import type { PartitionLog } from "../versions/partition-log.ts";
import type { VersionLog } from "../versions/version-log.ts";
import type { CheckpointBook, Slot, WholeCheckpoint } from "./checkpoint-book.ts";
import { configCheckpointBytes } from "./config-checkpoint.ts";
import { checkpointParts } from "./version-parts.ts";

/** What the writer works with. */
export interface WriterParts {
  readonly context: KeeperContext;
  readonly config: ConfigReader;
  readonly versions: VersionLog;
  readonly book: CheckpointBook;
  readonly held: HeldWatch;
  /** Partitions that this instance owns and serves. */
  readonly owned: () => readonly number[];
  /** True if this instance writes the checkpoints of CONFIG. */
  readonly ownsConfig: () => boolean;
}

interface Seen {
  covered: number;
  records: number;
  atMs: number;
}

/**
 * Writes the checkpoints of what this instance owns, `a` and `b` in turn, and trims the logs below
 * the older one. Nothing is written while the control plane is held: a checkpoint must never confirm
 * a state that is in doubt.
 */
export class CheckpointWriter {
  readonly #parts: WriterParts;
  readonly #seen = new Map<number, Seen>();
  readonly #trimmed = new Map<number, number>();
  #configAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Starts to look after checkpoints. */
  start(): void {
    this.#parts.context.tasks.start(this.#run(), (outcome) => {
      if (!outcome.ok) {
        throw outcome.error;
      }
    });
  }

  *#run(): Task<void> {
    const { context } = this.#parts;
    for (;;) {
      yield* pause(context.options.checkpointLookMs);
      try {
        yield* this.#look();
      } catch (error) {
        if (!(error instanceof EffectFailed)) {
          throw error;
        }
        count(context, "ringwall_checkpoints_failed_total");
        log(context, "warn", `a checkpoint was not written: ${error.message}`);
      }
    }
  }

  *#look(): Task<void> {
    const { config, owned, ownsConfig, versions } = this.#parts;
    if (ownsConfig() && this.#mayWrite() && this.#isConfigDue()) {
      yield* this.#writeConfig(config);
    }
    for (const partition of owned()) {
      const partitionLog = versions.partition(partition);
      if (this.#mayWrite() && this.#isDue(partition, partitionLog)) {
        yield* this.#writePartition(partition, partitionLog);
      }
      yield* this.#trim(partition, partitionLog);
    }
  }

  #mayWrite(): boolean {
    return this.#parts.held.reason === undefined;
  }

  #isConfigDue(): boolean {
    const { context, config, book } = this.#parts;
    const { head, generation, lastSequence } = config.log;
    if (head === undefined) {
      return false;
    }
    const written = [...book.configs.values()];
    const newest = written.filter(({ inputs }) => inputs?.generation === generation);
    const behind = newest.every(({ coveredSequence }) => Number(coveredSequence) < lastSequence);
    const waitedMs = context.moment().monotonicMs - this.#configAtMs;
    return newest.length === 0 || (behind && waitedMs >= context.options.checkpointMs);
  }

  *#writeConfig(config: ConfigReader): Task<void> {
    const { context, book, held } = this.#parts;
    const created = yield* streamState("CONFIG");
    const registry = held.registry;
    const { head, lastSequence } = config.log;
    if (head === undefined || registry === undefined) {
      return;
    }
    const inputs = commitInputs(config.log, head);
    inputs.registryRevision = BigInt(registry.lastSequence);
    const payload = configCheckpointBytes({
      streamCreatedUnixNs: created.createdUnixNs,
      coveredSequence: lastSequence,
      inputs,
      commits: config.log.commits.length,
      treeSha256: fromHex(head.treeSha256),
      registryCreatedUnixNs: registry.createdUnixNs,
    });
    const a = book.configs.get("a");
    const b = book.configs.get("b");
    const aIsOlder = a === undefined || (b !== undefined && a.coveredSequence <= b.coveredSequence);
    yield* this.#store(context.names.checkpoint("config", 0, aIsOlder ? "a" : "b", 0), payload);
    this.#configAtMs = context.moment().monotonicMs;
    count(context, "ringwall_checkpoints_total", { kind: "config" });
  }

  #isDue(partition: number, partitionLog: PartitionLog): boolean {
    const { context, book } = this.#parts;
    const { epoch, inputs, suspicion, records, lastSequence, isEpochOpen } = partitionLog;
    if (epoch === 0n || inputs === undefined || suspicion !== undefined || isEpochOpen) {
      return false;
    }
    const nowMs = context.moment().monotonicMs;
    const newest = book.ofPartition(partition)[0];
    if (newest === undefined || newest.epoch < epoch) {
      return true;
    }
    const seen = this.#seen.get(partition);
    if (seen === undefined || seen.covered !== newest.coveredSequence) {
      const { coveredSequence } = newest;
      this.#seen.set(partition, { covered: coveredSequence, records, atMs: nowMs });
      return false;
    }
    const { checkpointRecords, checkpointMs } = context.options;
    const waited = nowMs - seen.atMs >= checkpointMs;
    return records - seen.records >= checkpointRecords || (waited && lastSequence > seen.covered);
  }

  *#writePartition(partition: number, partitionLog: PartitionLog): Task<void> {
    const { context, book, held } = this.#parts;
    const versions = yield* streamState("VERSIONS");
    const config = yield* streamState("CONFIG");
    if (held.registry === undefined || !this.#mayWrite()) {
      return;
    }
    const { epoch, inputs, rendered, records, lastSequence: coveredSequence } = partitionLog;
    const frame = {
      epoch,
      streamCreatedUnixNs: versions.createdUnixNs,
      coveredSequence,
      inputs,
      rendered,
      registryCreatedUnixNs: held.registry.createdUnixNs,
      configCreatedUnixNs: config.createdUnixNs,
    };
    const slot = slotToWrite(book.ofPartition(partition));
    const parts = yield* checkpointParts(frame, [...partitionLog.heads]);
    for (const [index, payload] of parts.entries()) {
      yield* this.#store(context.names.checkpoint("version", partition, slot, index), payload);
    }
    // What was recorded while it was written counts for the next one.
    this.#seen.set(partition, {
      covered: coveredSequence,
      records,
      atMs: context.moment().monotonicMs,
    });
    count(context, "ringwall_checkpoints_total", { kind: "version" });
  }

  *#store(subject: string, payload: Uint8Array): Task<void> {
    const { context, book } = this.#parts;
    yield* append({
      stream: "CHECKPOINTS",
      subject,
      payload,
      headers: { "Rw-Type": "Checkpoint" },
      fence: { sequence: book.sequence(subject), write: context.nextWrite() },
    });
  }

  *#trim(partition: number, partitionLog: PartitionLog): Task<void> {
    const { context, book } = this.#parts;
    const whole = book.ofPartition(partition);
    const older = whole[1];
    if (older === undefined || whole.some(({ epoch }) => epoch !== partitionLog.epoch)) {
      return;
    }
    const oldestUnixMs = context.moment().wallMs - context.options.trimAfterMs;
    const below = Math.min(older.coveredSequence, partitionLog.marks.olderThan(oldestUnixMs));
    if (below <= (this.#trimmed.get(partition) ?? 0)) {
      return;
    }
    const subject = context.names.version(partition);
    yield* ask((tag) => ({ kind: "trim", tag, stream: "VERSIONS", subject, below }));
    this.#trimmed.set(partition, below);
    count(context, "ringwall_log_trims_total");
  }
}

/** The place that is free, or the one that reaches less far. */
function slotToWrite(whole: readonly WholeCheckpoint[]): Slot {
  const [newest] = whole;
  return newest?.slot === "a" ? "b" : "a";
}
