import { PortClass } from "@ringwall/wire";
import { type Annotations, entryError, PORTS_ANNOTATION, port, protocol } from "./annotations.ts";
import { EndpointError } from "./errors.ts";
import { portEntries } from "./port-entries.ts";

const SUFFIXES: ReadonlyMap<string, PortClass> = new Map([
  ["h1", PortClass.HTTP],
  ["http1", PortClass.HTTP],
  ["http/1.1", PortClass.HTTP],
  ["h2", PortClass.HTTP],
  ["http2", PortClass.HTTP],
  ["tcp", PortClass.TCP],
  ["udp", PortClass.UDP],
]);

/** Suffixes that an entry may carry, in lower case. */
export const PORT_SUFFIXES: readonly string[] = [...SUFFIXES.keys()];

/** Class that a trimmed suffix names, whatever its case; undefined if it names none. */
export function suffixClass(suffix: string): PortClass | undefined {
  return SUFFIXES.get(suffix.toLowerCase());
}

/**
 * Class of every port: the primary has the class of the protocol annotation; an entry of `ports`
 * without suffix has it too; `h1 http1 http/1.1 h2 http2` is HTTP, `tcp`, `udp` (case-insensitive).
 * The last entry for a number wins, over the primary as well.
 *
 * Throws EndpointError, the first of: `protocol`, `port`, then per entry `ports-entry`,
 * `port-protocol-suffix`.
 */
export function portProtocols(annotations: Annotations): Record<number, PortClass> {
  const own = protocol(annotations);
  const classes: Record<number, PortClass> = { [port(annotations)]: own };
  for (const entry of portEntries(annotations?.[PORTS_ANNOTATION])) {
    if (entry.port === undefined) throw entryError(entry.text);
    const named = entry.suffix === "" ? own : suffixClass(entry.suffix);
    if (named === undefined) {
      const hint = `after = write one of ${PORT_SUFFIXES.join(", ")}, or leave it out`;
      throw new EndpointError("port-protocol-suffix", PORTS_ANNOTATION, entry.text, hint);
    }
    classes[entry.port] = named;
  }
  return classes;
}

/** The distinct classes of a port map, ascending. */
export function protocolsServed<Class extends number>(
  classes: Readonly<Record<number, Class>>,
): Class[] {
  return [...new Set(Object.values<Class>(classes))].sort((a, b) => a - b);
}
