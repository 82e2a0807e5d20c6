import { create, toBinary } from "@bufbuild/protobuf";
import {
  type EpochBegin,
  EpochBeginSchema,
  type Head,
  HeadSchema,
  type Inputs,
  type VersionBatch,
  VersionBatchSchema,
  type VersionRecord,
  VersionRecordSchema,
  type VersionStep,
  VersionStepSchema,
} from "@ringwall/wire";
import { fromHex } from "../log/hex.ts";
import { PART_BYTES } from "../log/parts.ts";
import type { Advance, Advances } from "./advance.ts";
import type { HeadState, RenderedPosition } from "./partition-log.ts";

/** Upper bound of what one entry takes besides its texts: tags, lengths, versions, two digests. */
const ENTRY_BYTES = 120;

/** What every record of one batch names. */
export interface BatchFrame {
  readonly epoch: bigint;
  readonly inputs: Inputs;
  /** Position before this batch, for every record but the last. */
  readonly before: RenderedPosition | undefined;
  readonly rendered: RenderedPosition | undefined;
  readonly timeUnixMs: number;
}

/** Records of one batch: one, or several when it does not fit a message. */
export function batchRecords(frame: BatchFrame, advances: Advances): VersionRecord[] {
  const records: VersionBatch[] = [];
  const draft = new BatchDraft();
  const turn = (bytes: number) => {
    if (draft.bytes > 0 && draft.bytes + bytes > PART_BYTES) {
      records.push(draft.take(frame));
    }
    draft.bytes += bytes;
  };
  for (const advance of advances.advances) {
    turn(ENTRY_BYTES + advance.workload.length);
    draft.advance(advance);
  }
  for (const { workload, version } of advances.tombstones) {
    turn(ENTRY_BYTES + workload.length);
    draft.batch.tombstones.push(tombstone(workload, version));
  }
  for (const { workload, reason } of advances.refused) {
    turn(ENTRY_BYTES + workload.length + Buffer.byteLength(reason));
    draft.batch.refused.push({ $typeName: "ringwall.v1.RefusedWorkload", workload, reason });
  }
  for (const workload of advances.accepted) {
    turn(ENTRY_BYTES + workload.length);
    draft.batch.accepted.push(workload);
  }
  records.push(draft.take(frame));
  return records.map((batch, index) => finish(batch, frame, index === records.length - 1));
}

/** Records that begin an epoch: one, or several when its heads do not fit a message. */
export function epochRecords(
  epoch: bigint,
  reason: string,
  heads: Iterable<readonly [string, HeadState]>,
  inputs: Inputs | undefined,
): VersionRecord[] {
  const parts = splitHeads(heads);
  return parts.map((part, index) => {
    const begin: EpochBegin = create(EpochBeginSchema, {
      epoch,
      reason,
      heads: part,
      more: index < parts.length - 1,
    });
    if (inputs !== undefined) {
      begin.inputs = inputs;
    }
    return create(VersionRecordSchema, { record: { case: "epochBegin", value: begin } });
  });
}

/** Heads in the form of the contract, in lists that each fit a message; at least one list. */
export function splitHeads(heads: Iterable<readonly [string, HeadState]>): Head[][] {
  const parts: Head[][] = [[]];
  let bytes = 0;
  for (const [workload, head] of heads) {
    bytes += ENTRY_BYTES + workload.length;
    if (bytes > PART_BYTES) {
      parts.push([]);
      bytes = ENTRY_BYTES + workload.length;
    }
    parts.at(-1)?.push(storedHead(workload, head));
  }
  return parts;
}

/** A head in the form of the contract. */
export function storedHead(workload: string, head: HeadState): Head {
  const { version, digest } = head;
  return create(HeadSchema, { workload, version: BigInt(version), digest: fromHex(digest) });
}

/** Bytes of a record. */
export function recordBytes(record: VersionRecord): Uint8Array<ArrayBuffer> {
  return toBinary(VersionRecordSchema, record);
}

/** Collects what goes into the next record. */
class BatchDraft {
  bytes = 0;
  batch = create(VersionBatchSchema);
  #steps = new Map<string, VersionStep>();

  advance(advance: Advance): void {
    const { workload, fromDigest, toDigest, fromVersion, toVersion } = advance;
    const key = `${fromDigest}>${toDigest}`;
    let step = this.#steps.get(key);
    if (step === undefined) {
      step = create(VersionStepSchema, {
        fromDigest: fromHex(fromDigest),
        toDigest: fromHex(toDigest),
      });
      this.#steps.set(key, step);
      this.batch.steps.push(step);
    }
    step.advances.push({
      $typeName: "ringwall.v1.WorkloadAdvance",
      workload,
      fromVersion: BigInt(fromVersion),
      toVersion: BigInt(toVersion),
    });
  }

  take(frame: BatchFrame): VersionBatch {
    const { batch } = this;
    batch.epoch = frame.epoch;
    batch.inputs = frame.inputs;
    batch.timeUnixMs = BigInt(Math.trunc(frame.timeUnixMs));
    this.batch = create(VersionBatchSchema);
    this.#steps = new Map();
    this.bytes = 0;
    return batch;
  }
}

function finish(batch: VersionBatch, frame: BatchFrame, last: boolean): VersionRecord {
  const position = last ? frame.rendered : frame.before;
  batch.more = !last;
  if (position !== undefined) {
    batch.rendered = {
      $typeName: "ringwall.v1.LogPosition",
      streamCreatedUnixNs: position.streamCreatedUnixNs,
      sequence: BigInt(position.sequence),
    };
  }
  return create(VersionRecordSchema, { record: { case: "batch", value: batch } });
}

function tombstone(workload: string, version: number): VersionBatch["tombstones"][number] {
  return { $typeName: "ringwall.v1.Tombstone", workload, version: BigInt(version) };
}
