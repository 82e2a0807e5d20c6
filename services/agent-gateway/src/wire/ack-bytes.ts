import { toHex } from "./hex.ts";

/** An acknowledgement as it is judged. Numbers are exact up to 2^53. */
export interface Ack {
  readonly session: number;
  readonly seq: number;
  readonly epoch: number;
  readonly version: number;
  /** Hex digits; empty unless the agent named 32 bytes. */
  readonly digest: string;
  readonly status: number;
  readonly detail: string;
}

const UP = { session: 0x08, ack: 0x1a };
const ACK = { epoch: 0x08, version: 0x10, digest: 0x1a, status: 0x20, detail: 0x2a, seq: 0x30 };
const DIGEST_BYTES = 32;

/** Reads bytes one field after the other; `at` is beyond the end after whatever can't be read. */
class Scan {
  at = 0;
  end: number;
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.end = bytes.length;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at];
      this.at += 1;
      if (byte === undefined || scale > 2 ** 49) {
        this.at = this.end + 1;
        return 0;
      }
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        return value;
      }
      scale *= 0x80;
    }
  }

  slice(): Uint8Array {
    const length = this.varint();
    const start = this.at;
    this.at += length;
    return this.bytes.subarray(start, this.at);
  }
}

/**
 * Reads an Up that acknowledges a push without building its messages: ten thousand come at once. Any
 * other Up, and any form of one that the protobuf runtime would not write, gives undefined.
 */
export function readAck(payload: Uint8Array): Ack | undefined {
  const scan = new Scan(payload);
  let session = 0;
  if (payload[0] === UP.session) {
    scan.at = 1;
    session = scan.varint();
  }
  if (payload[scan.at] !== UP.ack) {
    return undefined;
  }
  scan.at += 1;
  const length = scan.varint();
  if (scan.at + length !== payload.length) {
    return undefined;
  }
  const ack = { session, seq: 0, epoch: 0, version: 0, digest: "", status: 0, detail: "" };
  while (scan.at < scan.end) {
    const tag = payload[scan.at];
    scan.at += 1;
    switch (tag) {
      case ACK.epoch:
        ack.epoch = scan.varint();
        break;
      case ACK.version:
        ack.version = scan.varint();
        break;
      case ACK.digest: {
        const bytes = scan.slice();
        ack.digest = bytes.length === DIGEST_BYTES ? toHex(bytes) : "";
        break;
      }
      case ACK.status:
        ack.status = scan.varint();
        break;
      case ACK.detail:
        ack.detail = Buffer.from(scan.slice()).toString("utf8");
        break;
      case ACK.seq:
        ack.seq = scan.varint();
        break;
      default:
        return undefined;
    }
  }
  return scan.at === scan.end ? ack : undefined;
}
