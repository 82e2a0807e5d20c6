/** An ISO time without the letters, for tables: `2026-05-04 09:30:12`. */
export function timeText(iso: string): string {
  return iso.slice(0, 19).replace("T", " ");
}

/** Time of day for lines of a stream: `09:30:12.123`. */
export function clockText(unixMs: bigint): string {
  return new Date(Number(unixMs)).toISOString().slice(11, 23);
}
