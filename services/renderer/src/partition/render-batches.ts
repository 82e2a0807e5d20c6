import { create, toBinary } from "@bufbuild/protobuf";
import { LIMITS } from "@ringwall/render";
import {
  type BodyAssignment,
  BodyAssignmentSchema,
  type Inputs,
  type RefusedWorkload,
  RefusedWorkloadSchema,
  RenderBatchSchema,
} from "@ringwall/wire";
import { fromHex } from "../context.ts";

/** What one batch says, before it is split. */
export interface BatchContent {
  readonly inputs: Inputs;
  /** True if a workload that it does not name is gone. */
  readonly full: boolean;
  /** Workloads by the hex digest of their body. */
  readonly set: ReadonlyMap<string, readonly string[]>;
  readonly removed: readonly string[];
  /** Reason by workload. */
  readonly refused: ReadonlyMap<string, string>;
}

interface Part {
  readonly set: BodyAssignment[];
  readonly removed: string[];
  readonly refused: RefusedWorkload[];
}

/** Bytes of a part that are not items: inputs, flags, numbers. */
const HEAD_BYTES = 256;
/** Bytes of an assignment beside its workloads: digest and framing. */
const ASSIGNMENT_BYTES = 48;
/** Framing of one text. */
const TEXT_BYTES = 6;
/** Longest reason that is written; a longer one is cut. */
const REASON_CHARS = 1_024;

/** Encodes a batch as one or more messages of at most 512 KiB; an empty one is one message. */
export function encodeBatch(batch: BatchContent): Uint8Array[] {
  const parts = splitBatch(batch);
  const { inputs, full } = batch;
  return parts.map((part, index) =>
    toBinary(
      RenderBatchSchema,
      create(RenderBatchSchema, { inputs, full, index, count: parts.length, ...part }),
    ),
  );
}

function splitBatch({ set, removed, refused }: BatchContent): Part[] {
  let part: Part = { set: [], removed: [], refused: [] };
  const parts = [part];
  let bytes = HEAD_BYTES;
  const reserve = (wanted: number): boolean => {
    const full = bytes + wanted > LIMITS.messageBytes;
    if (full) {
      part = { set: [], removed: [], refused: [] };
      parts.push(part);
      bytes = HEAD_BYTES;
    }
    bytes += wanted;
    return full;
  };
  for (const [hex, workloads] of [...set].sort(byText)) {
    const digest = fromHex(hex);
    let assignment: BodyAssignment | undefined;
    for (const workload of [...workloads].sort()) {
      const head = assignment === undefined ? ASSIGNMENT_BYTES : 0;
      const began = reserve(workload.length + TEXT_BYTES + head);
      if (assignment === undefined || began) {
        assignment = create(BodyAssignmentSchema, { digest });
        part.set.push(assignment);
        bytes += began && head === 0 ? ASSIGNMENT_BYTES : 0;
      }
      assignment.workloads.push(workload);
    }
  }
  for (const workload of [...removed].sort()) {
    reserve(workload.length + TEXT_BYTES);
    part.removed.push(workload);
  }
  for (const [workload, reason] of [...refused].sort(byText)) {
    const text = reason.slice(0, REASON_CHARS);
    reserve(workload.length + text.length * 3 + 2 * TEXT_BYTES);
    part.refused.push(create(RefusedWorkloadSchema, { workload, reason: text }));
  }
  return parts;
}

function byText([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
