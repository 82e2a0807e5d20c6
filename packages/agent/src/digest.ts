import type { BodyDigest } from "@ringwall/wire";

/** The 32 bytes of a digest. */
export function digestBytes(digest: BodyDigest): Uint8Array {
  return Buffer.from(digest, "hex");
}

/** The text of a digest on the wire; undefined unless it has 32 bytes. */
export function digestText(bytes: Uint8Array): BodyDigest | undefined {
  if (bytes.length !== 32) {
    return undefined;
  }
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  // 32 bytes in hex are exactly the text form of a body digest.
  return view.toString("hex") as BodyDigest;
}
