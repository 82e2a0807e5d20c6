import { type AckStatus, field, varint } from "@ringwall/wire";

/** Field numbers of Up and PolicyAck in session.proto, with their wire types. */
const UP = { session: 0x08, ack: 0x1a };
const ACK = { epoch: 0x08, version: 0x10, digest: 0x1a, status: 0x20, detail: 0x2a, seq: 0x30 };

/** Numbers of at most 9 bytes with their tags, and the tags and lengths of the rest. */
const FRAME_BYTES = 80;

/** Acknowledgements are cut from slabs of this size. */
const SLAB_BYTES = 64 * 1024;

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

let slab = Buffer.alloc(0);
let used = 0;

/** An acknowledgement of a push. */
export interface AckFields {
  readonly session: bigint;
  readonly epoch: bigint;
  readonly version: bigint;
  readonly digest: Uint8Array;
  readonly status: AckStatus;
  readonly detail: string;
  readonly seq: bigint;
}

/**
 * The bytes of an Up that holds a PolicyAck, as the protobuf runtime writes them, without building
 * its messages: a host may run thousands of agents that acknowledge at once. Undefined for numbers
 * above 2^53, which are left to the runtime.
 */
export function ackBytes(ack: AckFields): Uint8Array | undefined {
  const { session, epoch, version, seq } = ack;
  if (session > LARGEST || epoch > LARGEST || version > LARGEST || seq > LARGEST) {
    return undefined;
  }
  const detailBytes = ack.detail === "" ? 0 : Buffer.byteLength(ack.detail);
  const size = FRAME_BYTES + ack.digest.length + detailBytes;
  makeRoom(2 * size);
  // The fields are written behind the room for what precedes their length, then moved.
  const start = used + size;
  const end = writeFields(ack, start, detailBytes);
  let at = field(slab, used, UP.session, Number(session));
  slab[at] = UP.ack;
  at = varint(slab, at + 1, end - start);
  slab.copyWithin(at, start, end);
  const bytes = slab.subarray(used, at + end - start);
  used += bytes.length;
  return bytes;
}

function writeFields(ack: AckFields, start: number, detailBytes: number): number {
  let at = field(slab, start, ACK.epoch, Number(ack.epoch));
  at = field(slab, at, ACK.version, Number(ack.version));
  if (ack.digest.length > 0) {
    slab[at] = ACK.digest;
    at = varint(slab, at + 1, ack.digest.length);
    slab.set(ack.digest, at);
    at += ack.digest.length;
  }
  at = field(slab, at, ACK.status, ack.status);
  if (detailBytes > 0) {
    slab[at] = ACK.detail;
    at = varint(slab, at + 1, detailBytes);
    at += slab.write(ack.detail, at, "utf8");
  }
  return field(slab, at, ACK.seq, Number(ack.seq));
}

/** What was cut is never written again: whoever sends it may do so later. */
function makeRoom(bytes: number): void {
  if (used + bytes > slab.length) {
    slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, bytes));
    used = 0;
  }
}
