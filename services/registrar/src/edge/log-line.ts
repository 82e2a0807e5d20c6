/** Severity of a line. */
export type LineLevel = "info" | "warn" | "error";

/** Writes one JSON line in the form of the services' own log. */
export function logLine(
  base: Readonly<Record<string, string>>,
  level: LineLevel,
  message: string,
  fields: object,
): void {
  const line = { level, time: Date.now(), ...base, ...fields, message };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
