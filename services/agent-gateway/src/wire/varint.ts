/** Writes a varint field; 0 is not written. Returns the place behind it. Exact up to 2^53. */
export function field(buffer: Buffer, at: number, tag: number, value: number): number {
  if (value === 0) {
    return at;
  }
  buffer[at] = tag;
  return varint(buffer, at + 1, value);
}

/** Writes a number as a varint; returns the place behind it. */
export function varint(buffer: Buffer, at: number, value: number): number {
  let rest = value;
  let next = at;
  while (rest >= 0x80) {
    buffer[next++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  buffer[next++] = rest;
  return next;
}
