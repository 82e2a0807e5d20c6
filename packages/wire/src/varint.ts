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
  let rest = value;
  let next = at;
  while (rest >= 0x80) {
    buffer[next++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  buffer[next++] = rest;
  return next;
}
