import { equals, fromBinary } from "@bufbuild/protobuf";
import {
  EffectFailed,
  readAt,
  readLast,
  type StoredRecord,
  signalled,
  streamState,
  type Task,
} from "@ringwall/actor";
import { HEADER } from "@ringwall/bus";
import { type Inputs, InputsSchema, RenderBatchSchema, VersionRecordSchema } from "@ringwall/wire";
import type { WholeCheckpoint } from "../checkpoints/checkpoint-book.ts";
import type { KeeperContext } from "../context.ts";
import type { PartitionLog } from "./partition-log.ts";

/** Signal that a record of the partition was taken. */
export function versionSignal(partition: number): string {
  return `version:${partition}`;
}

/** The end of a partition's log as its leader has it. */
export interface LogEnd {
  /** Sequence of its last record; 0 if there is none. */
  readonly sequence: number;
  /** Epoch of that record; 0 if there is none or it can't be read. */
  readonly epoch: bigint;
  /** Inputs of that record, if it has any and can be read. */
  readonly inputs: Inputs | undefined;
  /** Id of the write that stored it; empty if there is none. */
  readonly write: string;
}

/**
 * Waits until this instance has taken everything of the partition that the leader has, and returns
 * the log's end. Throws EffectFailed when the reader does not come up in time.
 */
export function* catchUpVersions(
  context: KeeperContext,
  partition: number,
  log: PartitionLog,
): Task<LogEnd> {
  const { names, options } = context;
  const subject = names.version(partition);
  const last = yield* readLast("VERSIONS", subject);
  const end = endOf(last);
  while (log.seen < end.sequence) {
    if (!(yield* signalled(versionSignal(partition), options.catchUpMs))) {
      const detail = `this instance has taken ${subject} up to ${log.seen}, the leader has ${end.sequence}`;
      throw new EffectFailed("follow", "timeout", detail);
    }
  }
  // Sequences alone do not tell: a log that went back has others under the same ones, and the reader
  // finds that out in a moment.
  while (log.epoch < end.epoch) {
    if (!(yield* signalled(versionSignal(partition), options.catchUpMs))) {
      break;
    }
  }
  return end;
}

function endOf(record: StoredRecord | undefined): LogEnd {
  const end = { sequence: record?.sequence ?? 0, write: record?.headers[HEADER.write] ?? "" };
  try {
    const { payload } = record ?? { payload: new Uint8Array() };
    const { value } = fromBinary(VersionRecordSchema, payload).record;
    return { ...end, epoch: value?.epoch ?? 0n, inputs: value?.inputs };
  } catch {
    // The reader counts and logs what can't be read.
    return { ...end, epoch: 0n, inputs: undefined };
  }
}

/** The newest checkpoint of a partition, as far as it says where the log stood. */
export type CoveredPlace = Pick<WholeCheckpoint, "epoch" | "coveredSequence" | "inputs">;

/**
 * Why the log is not the one that the partition's newest checkpoint was made of; undefined if it is,
 * or there is none. A keeper that has not noticed yet that the log went back may have written it, and
 * whoever starts from it would take heads that the log does not have. Throws EffectFailed.
 */
export function* strayCheckpoint(
  context: KeeperContext,
  partition: number,
  log: PartitionLog,
  newest: () => CoveredPlace | undefined,
): Task<string | undefined> {
  const checkpoint = newest();
  // One of an epoch before the present one is of no use to anybody.
  if (checkpoint === undefined || checkpoint.epoch < log.epoch) {
    return undefined;
  }
  const { epoch, coveredSequence, inputs } = checkpoint;
  const record = yield* readAt("VERSIONS", coveredSequence);
  // The newest one's last record is never trimmed; an older one's may have been meanwhile.
  if (newest() !== checkpoint || checkpoint.epoch < log.epoch) {
    return undefined;
  }
  return record?.subject === context.names.version(partition) && isEndOf(record, epoch, inputs)
    ? undefined
    : `a checkpoint covers epoch ${epoch} up to sequence ${coveredSequence}, which the log does not have`;
}

function isEndOf({ payload }: StoredRecord, epoch: bigint, inputs: Inputs | undefined): boolean {
  try {
    const { value } = fromBinary(VersionRecordSchema, payload).record;
    return value?.epoch === epoch && areSame(value.inputs, inputs);
  } catch {
    return false;
  }
}

function areSame(a: Inputs | undefined, b: Inputs | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equals(InputsSchema, a, b);
}

/** Why the partition needs a new epoch, or undefined if its log goes on. */
export function epochReason(log: PartitionLog, end: LogEnd): string | undefined {
  if (log.suspicion !== undefined) {
    return log.suspicion;
  }
  if (log.epoch < end.epoch) {
    return `the log is of epoch ${end.epoch}, whose beginning is neither there nor in a checkpoint`;
  }
  if (log.epoch === 0n) {
    return "first epoch of the partition";
  }
  if (log.isEpochOpen) {
    return "the epoch before it was not begun to its end";
  }
  if (end.sequence !== log.lastSequence) {
    return `the log ends at sequence ${end.sequence}, the last one known is ${log.lastSequence}`;
  }
  return end.epoch !== log.epoch || areSame(end.inputs, log.inputs)
    ? undefined
    : `the record at sequence ${end.sequence} is another than was read`;
}

/** Where to read RENDERED from. */
export interface RenderedStart {
  readonly createdUnixNs: bigint;
  /** First sequence to read. */
  readonly from: number;
  /** True if only a full batch can be accepted first. */
  readonly needsFull: boolean;
}

/**
 * Finds where RENDERED goes on for the partition. Its oldest batches are dropped first, so as long
 * as the batch at the known position is still there, the next one is too. A stream that went back and
 * grew again has another batch at that position: only one of the same inputs leads to the same heads.
 */
export function* renderedStart(
  context: KeeperContext,
  partition: number,
  log: PartitionLog,
): Task<RenderedStart> {
  const { createdUnixNs, lastSequence } = yield* streamState("RENDERED");
  const subject = context.names.rendered(partition);
  const position = log.rendered;
  if (
    position !== undefined &&
    position.streamCreatedUnixNs === createdUnixNs &&
    position.sequence <= lastSequence
  ) {
    const there = yield* readAt("RENDERED", position.sequence);
    if (there?.subject === subject && isOfInputs(there, log.inputs)) {
      return { createdUnixNs, from: position.sequence + 1, needsFull: false };
    }
  }
  const last = yield* readLast("RENDERED", subject);
  return { createdUnixNs, from: last?.sequence ?? 1, needsFull: true };
}

function isOfInputs({ payload }: StoredRecord, inputs: Inputs | undefined): boolean {
  try {
    const batch = fromBinary(RenderBatchSchema, payload);
    return batch.inputs !== undefined && areSame(batch.inputs, inputs);
  } catch {
    // No batch of any inputs: it can't be the one that was taken.
    return false;
  }
}
