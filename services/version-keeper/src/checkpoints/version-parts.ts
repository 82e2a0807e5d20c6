import { createHash } from "node:crypto";
import { clone, create, toBinary } from "@bufbuild/protobuf";
import { slice, type Task } from "@ringwall/actor";
import { type Inputs, type VersionCheckpoint, VersionCheckpointSchema } from "@ringwall/wire";
import type { HeadState, RenderedPosition } from "../versions/partition-log.ts";
import { splitHeads } from "../versions/version-records.ts";

/** What a checkpoint says of a partition besides its heads. */
export interface CheckpointFrame {
  readonly epoch: bigint;
  readonly streamCreatedUnixNs: bigint;
  readonly coveredSequence: number;
  readonly inputs: Inputs | undefined;
  readonly rendered: RenderedPosition | undefined;
  readonly registryCreatedUnixNs: bigint;
  readonly configCreatedUnixNs: bigint;
}

/**
 * Writes a checkpoint as messages. The total digest in the last one is SHA-256 over the bytes of all
 * parts, the last one's taken without it.
 */
export function* checkpointParts(
  frame: CheckpointFrame,
  heads: readonly (readonly [string, HeadState])[],
): Task<Uint8Array<ArrayBuffer>[]> {
  const lists = splitHeads(heads);
  const hash = createHash("sha256");
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (const [index, list] of lists.entries()) {
    yield* slice();
    const part = create(VersionCheckpointSchema, {
      epoch: frame.epoch,
      streamCreatedUnixNs: frame.streamCreatedUnixNs,
      coveredSequence: BigInt(frame.coveredSequence),
      heads: list,
      count: lists.length,
      registryCreatedUnixNs: frame.registryCreatedUnixNs,
      configCreatedUnixNs: frame.configCreatedUnixNs,
    });
    if (frame.inputs !== undefined) {
      part.inputs = frame.inputs;
    }
    if (frame.rendered !== undefined) {
      part.rendered = {
        $typeName: "ringwall.v1.LogPosition",
        streamCreatedUnixNs: frame.rendered.streamCreatedUnixNs,
        sequence: BigInt(frame.rendered.sequence),
      };
    }
    hash.update(toBinary(VersionCheckpointSchema, part));
    if (index === lists.length - 1) {
      part.totalDigest = new Uint8Array(hash.digest());
    }
    parts.push(toBinary(VersionCheckpointSchema, part));
  }
  return parts;
}

/** True if the parts, in order, are all of one checkpoint and their digest is right. */
export function isWhole(parts: readonly VersionCheckpoint[]): boolean {
  const first = parts[0];
  const last = parts.at(-1);
  if (first === undefined || last === undefined || parts.length !== first.count) {
    return false;
  }
  const hash = createHash("sha256");
  for (const part of parts) {
    const bare = part === last ? clone(VersionCheckpointSchema, part) : part;
    if (part === last) {
      bare.totalDigest = new Uint8Array(0);
    }
    hash.update(toBinary(VersionCheckpointSchema, bare));
  }
  return Buffer.compare(hash.digest(), last.totalDigest) === 0;
}

/** True if both are parts of one checkpoint. */
export function areOneCheckpoint(a: VersionCheckpoint, b: VersionCheckpoint): boolean {
  return a.epoch === b.epoch && a.coveredSequence === b.coveredSequence && a.count === b.count;
}
