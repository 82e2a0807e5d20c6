import { type AckStatus, field, varint } from "@ringwall/wire";

/** Field numbers of Up and PolicyAck in session.proto, with their wire types. */
const UP = { session: 0x08, ack: 0x1a };
const ACK = { epoch: 0x08, version: 0x10, digest: 0x1a, status: 0x20, detail: 0x2a, seq: 0x30 };

/** Six numbers of at most 9 bytes with their tags, and the tags and lengths of the rest. */
const FRAME_BYTES = 80;

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

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
  const body = Buffer.allocUnsafe(2 * size);
  // The fields are written behind the room for what precedes their length.
  let end = field(body, size, ACK.epoch, Number(epoch));
  end = field(body, end, ACK.version, Number(version));
  if (ack.digest.length > 0) {
    body[end] = ACK.digest;
    end = varint(body, end + 1, ack.digest.length);
    body.set(ack.digest, end);
    end += ack.digest.length;
  }
  end = field(body, end, ACK.status, ack.status);
  if (detailBytes > 0) {
    body[end] = ACK.detail;
    end = varint(body, end + 1, detailBytes);
    end += body.write(ack.detail, end, "utf8");
  }
  end = field(body, end, ACK.seq, Number(seq));
  let at = field(body, 0, UP.session, Number(session));
  body[at] = UP.ack;
  at = varint(body, at + 1, end - size);
  body.copyWithin(at, size, end);
  return body.subarray(0, at + end - size);
}
