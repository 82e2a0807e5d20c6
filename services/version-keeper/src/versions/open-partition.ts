import type { StoredRecord } from "@ringwall/actor";
import type { KeeperContext } from "../context.ts";
import {
  EffectFailed,
  readAt,
  readLast,
  signalled,
  streamState,
  type Task,
} from "../tasks/task.ts";
import type { PartitionLog } from "./partition-log.ts";

/** Signal that a record of the partition was taken. */
export function versionSignal(partition: number): string {
  return `version:${partition}`;
}

/**
 * Waits until this instance has taken everything of the partition that the leader has, and returns
 * the last record there. Throws EffectFailed when the reader does not come up in time.
 */
export function* catchUpVersions(
  context: KeeperContext,
  partition: number,
  log: PartitionLog,
): Task<StoredRecord | undefined> {
  const subject = context.names.version(partition);
  const last = yield* readLast("VERSIONS", subject);
  const wanted = last?.sequence ?? 0;
  while (log.seen < wanted) {
    if (!(yield* signalled(versionSignal(partition), context.options.catchUpMs))) {
      const detail = `this instance has taken ${subject} up to ${log.seen}, the leader has ${wanted}`;
      throw new EffectFailed("follow", "timeout", detail);
    }
  }
  return last;
}

/** Why the partition needs a new epoch, or undefined if its log goes on. */
export function epochReason(log: PartitionLog, last: StoredRecord | undefined): string | undefined {
  if (log.suspicion !== undefined) {
    return log.suspicion;
  }
  if (log.epoch === 0n) {
    return "first epoch of the partition";
  }
  if (log.isEpochOpen) {
    return "the epoch before it was not begun to its end";
  }
  const sequence = last?.sequence ?? 0;
  return sequence === log.lastSequence
    ? undefined
    : `the log ends at sequence ${sequence}, the last one known is ${log.lastSequence}`;
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
 * as the batch at the known position is still there, the next one is too.
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
    if (there?.subject === subject) {
      return { createdUnixNs, from: position.sequence + 1, needsFull: false };
    }
  }
  const last = yield* readLast("RENDERED", subject);
  return { createdUnixNs, from: last?.sequence ?? 1, needsFull: true };
}
