/** What four groups of seven bits hold; above it bit operations on a number would lose digits. */
const FOUR_GROUPS = 0x1000_0000;

/** Writes a varint field; 0 is not written. Returns the place behind it. Exact up to 2^53. */
export function field(buffer: Uint8Array, at: number, tag: number, value: number): number {
  if (value === 0) {
    return at;
  }
  buffer[at] = tag;
  return varint(buffer, at + 1, value);
}

/** Writes a number as a varint; returns the place behind it. Exact up to 2^53. */
export function varint(buffer: Uint8Array, at: number, value: number): number {
  let high = value;
  let next = at;
  while (high >= FOUR_GROUPS) {
    const low = high % FOUR_GROUPS;
    buffer[next] = low | 0x80;
    buffer[next + 1] = (low >>> 7) | 0x80;
    buffer[next + 2] = (low >>> 14) | 0x80;
    buffer[next + 3] = (low >>> 21) | 0x80;
    high = (high - low) / FOUR_GROUPS;
    next += 4;
  }
  while (high >= 0x80) {
    buffer[next++] = high | 0x80;
    high >>>= 7;
  }
  buffer[next++] = high;
  return next;
}
