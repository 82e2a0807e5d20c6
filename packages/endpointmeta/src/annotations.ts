import { PortClass } from "@ringwall/wire";
import { EndpointError } from "./errors.ts";
import { readPort, readUint } from "./numbers.ts";
import { portEntries } from "./port-entries.ts";

/** Annotations of a workload, from whatever source; absent reads as empty. */
export type Annotations = Readonly<Record<string, string>> | undefined;

/** Primary port. */
export const PORT_ANNOTATION = "endpoint.aether.io/port";
/** Comma list of ports, each with an optional `=<protocol>`. */
export const PORTS_ANNOTATION = "endpoint.aether.io/ports";
/** Class of every port that names none. */
export const PROTOCOL_ANNOTATION = "endpoint.aether.io/protocol";
/** Share relative to other endpoints of the service. */
export const WEIGHT_ANNOTATION = "endpoint.aether.io/weight";
/** Prefix of metadata keys. */
export const METADATA_PREFIX = "metadata.endpoint.aether.io/";

/** Primary port where none is declared. */
export const DEFAULT_PORT = 8080;
/** Weight where none is declared. */
export const DEFAULT_WEIGHT = 1024;

const WEIGHT_MAX = 0xffff_ffff;

/**
 * Primary port: 8080 if the annotation is absent; else the whole text must be ASCII digits of a
 * 16-bit number. Leading zeros are fine, nothing is trimmed, empty text is an error.
 *
 * Throws EndpointError `port`.
 */
export function port(annotations: Annotations): number {
  const text = annotations?.[PORT_ANNOTATION];
  if (text === undefined) return DEFAULT_PORT;
  const value = readPort(text);
  if (value === undefined) {
    throw new EndpointError("port", PORT_ANNOTATION, text, "write one number from 0 to 65535");
  }
  return value;
}

/**
 * Every port of the list, sorted by number and unique; `defaultPort` is always a member. Entries
 * are separated by commas and trimmed (Unicode White_Space), empty ones are skipped, what follows
 * the first `=` is not looked at.
 *
 * Throws EndpointError `ports-entry` if the number of any entry is none of 16 bits.
 */
export function ports(annotations: Annotations, defaultPort: number): number[] {
  return [...listedPorts(annotations).add(defaultPort)].sort((a, b) => a - b);
}

/** The ports of the list alone, in their order. Throws EndpointError `ports-entry`. */
export function listedPorts(annotations: Annotations): Set<number> {
  const found = new Set<number>();
  for (const entry of portEntries(annotations?.[PORTS_ANNOTATION])) {
    if (entry.port === undefined) throw entryError(entry.text);
    found.add(entry.port);
  }
  return found;
}

/** The error of a list entry whose number does not parse. */
export function entryError(entry: string): EndpointError {
  const hint = "write a number from 0 to 65535, or <number>=<protocol>";
  return new EndpointError("ports-entry", PORTS_ANNOTATION, entry, hint);
}

/**
 * Class of ports that name none: absent, empty or `http` is HTTP; `tcp`; `udp`. Exact and
 * case-sensitive.
 *
 * Throws EndpointError `protocol` for anything else.
 */
export function protocol(annotations: Annotations): PortClass {
  const text = annotations?.[PROTOCOL_ANNOTATION];
  switch (text) {
    case undefined:
    case "":
    case "http":
      return PortClass.HTTP;
    case "tcp":
      return PortClass.TCP;
    case "udp":
      return PortClass.UDP;
    default:
      throw new EndpointError("protocol", PROTOCOL_ANNOTATION, text, "write http, tcp or udp");
  }
}

/**
 * Weight: 1024 if absent; else the whole text must be ASCII digits of a 32-bit number. 0 is
 * allowed and takes no share.
 *
 * Throws EndpointError `weight`.
 */
export function weight(annotations: Annotations): number {
  const text = annotations?.[WEIGHT_ANNOTATION];
  if (text === undefined) return DEFAULT_WEIGHT;
  const value = readUint(text, WEIGHT_MAX);
  if (value === undefined) {
    throw new EndpointError(
      "weight",
      WEIGHT_ANNOTATION,
      text,
      `write one number from 0 to ${WEIGHT_MAX}`,
    );
  }
  return value;
}

/**
 * Metadata: every annotation `metadata.endpoint.aether.io/<rest>` with a non-empty rest, under
 * `<rest>`, its value verbatim. Keys such as `__proto__` are ordinary keys.
 */
export function metadata(annotations: Annotations): Record<string, string> {
  const found = Object.entries(annotations ?? {})
    .filter(([key]) => key.startsWith(METADATA_PREFIX) && key.length > METADATA_PREFIX.length)
    .map(([key, value]) => [key.slice(METADATA_PREFIX.length), value] as const);
  return Object.fromEntries(found);
}
