const PORT_MAX = 65_535;
const DIGITS = /^[0-9]+$/;

/** Reads ASCII digits, leading zeros allowed, up to `max`; undefined for anything else. */
export function readUint(text: string, max: number): number | undefined {
  if (!DIGITS.test(text)) return undefined;
  // A long run of digits becomes a large or infinite float, which is above every limit.
  const value = Number(text);
  return value <= max ? value : undefined;
}

/** Reads a 16-bit number, undefined for anything else. */
export function readPort(text: string): number | undefined {
  return readUint(text, PORT_MAX);
}
