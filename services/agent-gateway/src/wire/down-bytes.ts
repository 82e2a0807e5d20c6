/**
 * The bytes of a Down, spliced: the part that many workloads share is encoded once, and only the
 * fields that differ are written for each. Field numbers are those of session.proto.
 */

import { field, varint } from "@ringwall/wire";

/** Fields of a Down that are one workload's own. */
export interface DownFrame {
  readonly workload: string;
  readonly session: number;
  /** 0 for what is not counted: pulses and directives. */
  readonly seq: number;
  readonly epoch: bigint;
  readonly headVersion: number;
  /** 64 hex digits, or empty. */
  readonly digest: string;
  /** Encoded Inputs. */
  readonly inputs: Uint8Array;
}

/** Members of Down.body by their field number. */
export const BODY_FIELDS = {
  helloAck: 8,
  snapshot: 9,
  delta: 10,
  chunk: 11,
  directive: 12,
  pulse: 13,
} as const;

const NOTHING = new Uint8Array();

/** Encodes a Down whose body is `own` followed by `shared`, both being encoded fields of it. */
export function encodeDown(
  frame: DownFrame,
  body: keyof typeof BODY_FIELDS,
  own: Uint8Array,
  shared: Uint8Array = NOTHING,
): Uint8Array {
  const bodyBytes = own.length + shared.length;
  // A tag and a length or varint are at most 11 bytes; workload ids and digests have one-byte lengths.
  const limit = 120 + frame.workload.length + frame.inputs.length + bodyBytes;
  const buffer = Buffer.allocUnsafe(limit);
  let at = 0;
  buffer[at++] = 0x0a;
  buffer[at++] = frame.workload.length;
  at += buffer.write(frame.workload, at, "latin1");
  at = field(buffer, at, 0x10, frame.session);
  at = field(buffer, at, 0x18, frame.seq);
  at = field(buffer, at, 0x20, Number(frame.epoch));
  at = field(buffer, at, 0x28, frame.headVersion);
  if (frame.digest !== "") {
    buffer[at++] = 0x32;
    buffer[at++] = 32;
    at += buffer.write(frame.digest, at, "hex");
  }
  if (frame.inputs.length > 0) {
    buffer[at++] = 0x3a;
    at = varint(buffer, at, frame.inputs.length);
    buffer.set(frame.inputs, at);
    at += frame.inputs.length;
  }
  buffer[at++] = (BODY_FIELDS[body] << 3) | 2;
  at = varint(buffer, at, bodyBytes);
  buffer.set(own, at);
  buffer.set(shared, at + own.length);
  return buffer.subarray(0, at + bodyBytes);
}

/** The fields `from_version` and `to_version` of a PolicyDelta. */
export function deltaVersions(fromVersion: number, toVersion: number): Uint8Array {
  const buffer = Buffer.allocUnsafe(22);
  const at = field(buffer, 0, 0x08, fromVersion);
  return buffer.subarray(0, field(buffer, at, 0x10, toVersion));
}

/** The field `version` of a WorkloadPolicy. */
export function policyVersion(version: number): Uint8Array {
  const buffer = Buffer.allocUnsafe(11);
  return buffer.subarray(0, field(buffer, 0, 0x08, version));
}

/** The fields of a Pulse. */
export function pulseBytes(lastSeq: number): Uint8Array {
  return policyVersion(lastSeq);
}

/** The fields of a SnapshotChunk but its data, and the tag and length of that. */
export function chunkBytes(
  id: number,
  index: number,
  count: number,
  sha256: Uint8Array,
  dataBytes: number,
): Uint8Array {
  const buffer = Buffer.allocUnsafe(80);
  let at = field(buffer, 0, 0x08, id);
  at = field(buffer, at, 0x10, index);
  at = field(buffer, at, 0x18, count);
  buffer[at++] = 0x22;
  buffer[at++] = sha256.length;
  buffer.set(sha256, at);
  at += sha256.length;
  buffer[at++] = 0x2a;
  return buffer.subarray(0, varint(buffer, at, dataBytes));
}
