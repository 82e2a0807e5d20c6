/** Bytes as lower-case hex digits. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** Hex digits as bytes; the empty text gives no bytes. */
export function fromHex(text: string): Uint8Array {
  return Buffer.from(text, "hex");
}
