import { createHash } from "node:crypto";

/** Bytes before the payload: magic (8), payload length (4, big-endian), SHA-256 of the payload. */
const HEADER_BYTES = 44;

/** Largest payload that is read: the policy limit with room for what stands beside it. */
const PAYLOAD_LIMIT = 40 * 1024 * 1024;

/** A frame's payload, or why it is not one. */
export type Unframed =
  | { readonly ok: true; readonly payload: Uint8Array }
  | { readonly ok: false; readonly why: string };

/** Wraps a payload with magic (8 ASCII characters), length and SHA-256. */
export function frame(magic: string, payload: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(HEADER_BYTES + payload.length);
  bytes.write(magic, 0, 8, "latin1");
  bytes.writeUInt32BE(payload.length, 8);
  createHash("sha256").update(payload).digest().copy(bytes, 12);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/** Reads a frame; says what is wrong with one that is foreign, cut or altered. */
export function unframe(magic: string, bytes: Uint8Array): Unframed {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.length === 0) {
    return { ok: false, why: "it is empty" };
  }
  if (view.length < HEADER_BYTES) {
    return { ok: false, why: `it has ${view.length} bytes, a header has ${HEADER_BYTES}` };
  }
  if (view.toString("latin1", 0, 8) !== magic) {
    return { ok: false, why: `it does not begin with ${magic}` };
  }
  const length = view.readUInt32BE(8);
  if (length > PAYLOAD_LIMIT || view.length !== HEADER_BYTES + length) {
    return { ok: false, why: `it has ${view.length - HEADER_BYTES} payload bytes, not ${length}` };
  }
  const payload = view.subarray(HEADER_BYTES);
  if (!createHash("sha256").update(payload).digest().equals(view.subarray(12, HEADER_BYTES))) {
    return { ok: false, why: "its SHA-256 does not match" };
  }
  return { ok: true, payload };
}
