/** Bytes as lower-case hex. */
export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** The first twelve hex digits: enough to name a commit or body among those on a screen. */
export function shortHex(bytes: Uint8Array): string {
  return hex(bytes).slice(0, 12);
}

/** Bytes of hex text; undefined if it is not hex. */
export function fromHex(text: string): Uint8Array | undefined {
  return /^([0-9a-f]{2})*$/i.test(text) ? Buffer.from(text, "hex") : undefined;
}
