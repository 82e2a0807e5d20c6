/** Hex digits of bytes. */
export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** The first digits of a digest, for people. */
export function short(digest: string): string {
  return digest === "" ? "-" : digest.slice(0, 8);
}
