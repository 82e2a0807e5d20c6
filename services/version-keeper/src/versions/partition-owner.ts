import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  childTrace,
  EffectFailed,
  pause,
  type StoredRecord,
  signalled,
  type Task,
} from "@ringwall/actor";
import { partitionOf } from "@ringwall/bus";
import {
  type ClaimRequest,
  FullBatchWantSchema,
  type Inputs,
  RenderBatchSchema,
  type VersionRecord,
} from "@ringwall/wire";
import { count, type KeeperContext, log } from "../context.ts";
import { toHex } from "../log/hex.ts";
import { highestOf, isBelow } from "../log/inputs.ts";
import { advancesOf } from "./advance.ts";
import { BatchParts, type WholeBatch } from "./batch-parts.ts";
import { ClaimDesk } from "./claim-desk.ts";
import { FencedEnd } from "./fenced-end.ts";
import {
  type CoveredPlace,
  catchUpVersions,
  epochReason,
  renderedStart,
  strayCheckpoint,
  versionSignal,
} from "./open-partition.ts";
import type { PartitionLog } from "./partition-log.ts";
import { RenderedQueue } from "./rendered-queue.ts";
import { batchRecords, epochRecords, recordBytes } from "./version-records.ts";

/** Mean wait after a failure before the partition is opened again. */
const REOPEN_MS = 500;

/** The same after a lost fence. */
const FENCE_LOST_MS = 20;

/** Least time between two epochs that claims make necessary. */
const CLAIMED_EPOCH_MS = 60_000;

/** Longest sleep without a signal. */
const LOOK_MS = 60_000;

/** Full batches are asked for again after at most this many times the first wait. */
const MOST_WAIT_FACTOR = 16;

const WORKLOAD = /^[a-z0-9_-]{1,64}$/;

/** What a partition's owner needs from the rest of the keeper. */
export interface OwnerPorts {
  /** True if CONFIG has the commit that the inputs name; waits for a reader that lags. */
  readonly hasCommit: (inputs: Inputs) => Task<boolean>;
  /** Hears of every record that this owner stored. */
  readonly stored: (partition: number) => void;
  /** The newest whole checkpoint of a partition; the same object as long as it is that one. */
  readonly checkpoint: (partition: number) => CoveredPlace | undefined;
}

/**
 * The one writer of a partition's log while this instance owns it. It opens the partition (catches up,
 * begins an epoch where one is needed, finds its place in RENDERED), then turns each accepted
 * RenderBatch into one VersionBatch, one append after the other, until it loses the fence or the
 * slot. Correctness rests on the fence alone.
 */
export class PartitionOwner {
  readonly #context: KeeperContext;
  readonly #partition: number;
  readonly #log: PartitionLog;
  readonly #ports: OwnerPorts;
  readonly #queue: RenderedQueue;
  readonly #claims = new ClaimDesk();
  readonly #end: FencedEnd;
  #task: number | undefined;
  #parts = new BatchParts();
  #renderedCreated = 0n;
  #needsFull = false;
  #askAtMs = 0;
  #askWaitMs = 0;
  #claimedEpochAtMs = Number.NEGATIVE_INFINITY;
  /** The checkpoint that was held against the log last. */
  #checked: CoveredPlace | undefined;

  constructor(
    context: KeeperContext,
    partition: number,
    versionLog: PartitionLog,
    ports: OwnerPorts,
  ) {
    this.#context = context;
    this.#partition = partition;
    this.#log = versionLog;
    this.#ports = ports;
    const subject = context.names.rendered(partition);
    this.#queue = new RenderedQueue(context.outbox, partition, subject);
    this.#end = new FencedEnd(context, context.names.version(partition), (reason) =>
      versionLog.suspect(reason),
    );
  }

  /** True between `start` and `stop`. */
  get isRunning(): boolean {
    return this.#task !== undefined;
  }

  /** Begins to own the partition. */
  start(): void {
    this.#task ??= this.#context.tasks.start(this.#run(), (outcome) => {
      this.#task = undefined;
      if (!outcome.ok) {
        throw outcome.error;
      }
    });
  }

  /** Ends owning it; an append in flight is judged by its fence. */
  stop(): void {
    if (this.#task !== undefined) {
      this.#context.tasks.drop(this.#task);
      this.#task = undefined;
      this.#queue.close();
      this.#claims.refuse(this.#context.outbox, "unavailable", "the partition changes its keeper");
    }
  }

  /** Takes a record of RENDERED. */
  take(reader: string, record: StoredRecord): void {
    this.#queue.take(reader, record);
    this.wake();
  }

  /** Notes that a reader of RENDERED is gone. */
  readerLost(reader: string): void {
    this.#queue.readerLost(reader);
    this.wake();
  }

  /** The connection was away, and the store may be another one. */
  reconnected(): void {
    this.#end.doubt();
  }

  /** Takes a claim; it is answered when it is settled. */
  claim(request: ClaimRequest, replyTo: string): void {
    this.#claims.add(this.#context.outbox, request, replyTo);
    this.wake();
  }

  /** Lets the owner look around: something about the partition has changed. */
  wake(): void {
    this.#context.tasks.signal(`owner:${this.#partition}`);
  }

  *#run(): Task<void> {
    for (;;) {
      try {
        yield* this.#open();
        yield* this.#serve();
      } catch (error) {
        if (!(error instanceof EffectFailed)) {
          throw error;
        }
        const reason = error.code === "fence-lost" ? "fence-lost" : "effect-failed";
        count(this.#context, "ringwall_keeper_reopens_total", { reason });
        const level = error.code === "fence-lost" ? "info" : "warn";
        log(this.#context, level, error.message, { partition: this.#partition });
        this.#queue.close();
        // Two instances that both believe to own the partition must not chase each other.
        const waitMs = error.code === "fence-lost" ? FENCE_LOST_MS : REOPEN_MS;
        yield* pause(waitMs * (0.5 + this.#context.moment().random()));
      }
    }
  }

  *#open(): Task<void> {
    const context = this.#context;
    this.#end.trust();
    const end = yield* catchUpVersions(context, this.#partition, this.#log);
    this.#end.opened(end);
    yield* this.#checkCheckpoint();
    const reason = epochReason(this.#log, end);
    if (reason !== undefined) {
      const covered = this.#ports.checkpoint(this.#partition)?.epoch ?? 0n;
      yield* this.#beginEpoch(reason, highestOf([end.epoch, covered]));
    }
    const start = yield* renderedStart(context, this.#partition, this.#log);
    this.#renderedCreated = start.createdUnixNs;
    this.#parts = new BatchParts();
    this.#wantFull(start.needsFull);
    this.#queue.open(start.from);
  }

  /** Suspects the log if its newest checkpoint was made of another one. */
  *#checkCheckpoint(): Task<void> {
    const newest = () => this.#ports.checkpoint(this.#partition);
    const checkpoint = newest();
    const reason = yield* strayCheckpoint(this.#context, this.#partition, this.#log, newest);
    this.#checked = checkpoint;
    if (reason !== undefined) {
      this.#log.suspect(reason);
    }
  }

  *#serve(): Task<void> {
    const { moment } = this.#context;
    while (!this.#queue.isLost && this.#log.suspicion === undefined) {
      if (this.#ports.checkpoint(this.#partition) !== this.#checked) {
        yield* this.#checkCheckpoint();
        continue;
      }
      if (this.#claims.waits) {
        yield* this.#settleClaims();
      }
      const record = this.#queue.next();
      if (record !== undefined) {
        yield* this.#takePart(record);
        continue;
      }
      const nowMs = moment().monotonicMs;
      if (this.#needsFull && nowMs >= this.#askAtMs) {
        this.#askForFull(nowMs);
      }
      const sleepMs = this.#needsFull ? Math.max(1, this.#askAtMs - nowMs) : LOOK_MS;
      yield* signalled(`owner:${this.#partition}`, sleepMs);
    }
  }

  *#takePart(record: StoredRecord): Task<void> {
    const part = readPart(record.payload);
    if (part === undefined) {
      count(this.#context, "ringwall_keeper_batches_ignored_total", { reason: "malformed" });
      this.#parts = new BatchParts();
      this.#wantFull(true);
      return;
    }
    const batch = this.#parts.take(part, record.sequence, record.headers.traceparent);
    if (batch === undefined) {
      return;
    }
    const reason = yield* this.#whyIgnored(batch);
    if (reason !== undefined) {
      count(this.#context, "ringwall_keeper_batches_ignored_total", { reason });
      this.#wantFull(true);
      return;
    }
    this.#wantFull(false);
    // A batch waits from when it was stored, so that nothing between two spans is left out.
    const { wallMs } = this.#context.moment();
    yield* this.#accept(batch, Math.min(record.timeUnixMs, wallMs));
  }

  *#whyIgnored(batch: WholeBatch): Task<string | undefined> {
    const last = this.#log.inputs;
    if (last !== undefined && isBelow(batch.inputs, last)) {
      return "below";
    }
    if (this.#needsFull && !batch.full) {
      return "not-full";
    }
    return (yield* this.#ports.hasCommit(batch.inputs)) ? undefined : "unknown-commit";
  }

  *#accept(batch: WholeBatch, sinceUnixMs: number): Task<void> {
    const { moment } = this.#context;
    const belongs = (workload: string) =>
      this.#log.heads.has(workload) ||
      (WORKLOAD.test(workload) && partitionOf(workload) === this.#partition);
    const advances = yield* advancesOf(batch, this.#log, belongs);
    if (advances.strangers > 0) {
      const fields = { partition: this.#partition, strangers: advances.strangers };
      log(this.#context, "error", "a batch names workloads that do not belong in it", fields);
    }
    const trace = batch.trace === undefined ? undefined : childTrace(batch.trace, moment().random);
    const frame = {
      epoch: this.#log.epoch,
      inputs: batch.inputs,
      before: this.#log.rendered,
      rendered: { streamCreatedUnixNs: this.#renderedCreated, sequence: batch.sequence },
      timeUnixMs: moment().wallMs,
    };
    for (const record of batchRecords(frame, advances)) {
      yield* this.#store(record, trace);
    }
    this.#context.outbox.add({
      kind: "count",
      name: "ringwall_versions_advanced_total",
      by: advances.advances.length,
    });
    if (trace !== undefined && batch.trace !== undefined) {
      this.#context.outbox.add({
        kind: "span",
        name: "version",
        trace,
        parent: batch.trace,
        startUnixMs: sinceUnixMs,
        endUnixMs: moment().wallMs,
        attributes: {
          "ringwall.partition": this.#partition,
          "ringwall.commit": toHex(batch.inputs.commitId),
          "ringwall.advances": advances.advances.length,
        },
      });
    }
  }

  *#store(record: VersionRecord, trace?: string): Task<void> {
    const sequence = yield* this.#end.store({
      payload: recordBytes(record),
      headers: { "Rw-Type": "VersionRecord" },
      ...(trace === undefined ? {} : { trace }),
    });
    this.#log.take(record.record, sequence, this.#context.moment().wallMs);
    this.#context.tasks.signal(versionSignal(this.#partition));
    this.#ports.stored(this.#partition);
  }

  /** Begins an epoch above the last one, the clock and `above`; only a full batch can follow it. */
  *#beginEpoch(reason: string, above: bigint): Task<void> {
    const { wallMs } = this.#context.moment();
    const now = BigInt(Math.trunc(wallMs));
    const epoch = highestOf([now, this.#log.epoch + 1n, above + 1n]);
    const first = this.#log.epoch === 0n;
    for (const record of epochRecords(epoch, reason, [...this.#log.heads], this.#log.inputs)) {
      yield* this.#store(record);
    }
    count(this.#context, "ringwall_epochs_begun_total");
    const fields = { partition: this.#partition, epoch: String(epoch), reason };
    log(this.#context, first ? "info" : "warn", "a new epoch begins", fields);
  }

  *#settleClaims(): Task<void> {
    const context = this.#context;
    const { wallMs, monotonicMs } = context.moment();
    const mayBegin = monotonicMs - this.#claimedEpochAtMs >= CLAIMED_EPOCH_MS;
    const settled = this.#claims.judge(context.outbox, this.#log, wallMs, mayBegin);
    if (settled.above !== undefined) {
      this.#claimedEpochAtMs = monotonicMs;
      yield* this.#beginEpoch("an agent has a policy of a later epoch", settled.above);
      const start = yield* renderedStart(context, this.#partition, this.#log);
      this.#renderedCreated = start.createdUnixNs;
      this.#parts = new BatchParts();
      this.#wantFull(true);
      this.#queue.open(start.from);
    }
    const { inputs } = this.#log;
    if (settled.moves.length > 0 && inputs !== undefined) {
      const frame = {
        epoch: this.#log.epoch,
        inputs,
        before: this.#log.rendered,
        rendered: this.#log.rendered,
        timeUnixMs: context.moment().wallMs,
      };
      const advances = { advances: settled.moves, tombstones: [], refused: [], accepted: [] };
      for (const record of batchRecords(frame, { ...advances, strangers: 0 })) {
        yield* this.#store(record);
      }
      for (const { workload, fromVersion, toVersion } of settled.moves) {
        count(context, "ringwall_claims_overruled_total");
        const fields = { workload, fromVersion, toVersion, partition: this.#partition };
        log(context, "error", "an agent's claim contradicts the log; its head moves", fields);
      }
    }
    this.#claims.answer(context.outbox, this.#log, settled);
  }

  #wantFull(needed: boolean): void {
    if (needed && !this.#needsFull) {
      this.#askAtMs = 0;
      this.#askWaitMs = this.#context.options.wantFullMs;
    }
    this.#needsFull = needed;
  }

  #askForFull(nowMs: number): void {
    const { names, options, outbox, moment } = this.#context;
    const want = create(FullBatchWantSchema, { partition: this.#partition });
    outbox.add({
      kind: "publish",
      subject: names.internal("batch", "want"),
      payload: toBinary(FullBatchWantSchema, want),
    });
    this.#askAtMs = nowMs + this.#askWaitMs * (0.5 + moment().random());
    this.#askWaitMs = Math.min(this.#askWaitMs * 2, options.wantFullMs * MOST_WAIT_FACTOR);
  }
}

function readPart(payload: Uint8Array) {
  try {
    return fromBinary(RenderBatchSchema, payload);
  } catch {
    return undefined;
  }
}
