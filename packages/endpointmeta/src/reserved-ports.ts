import { type Annotations, listedPorts, port } from "./annotations.ts";
import { EndpointError } from "./errors.ts";

/** Ports that the mesh keeps for itself unless configured otherwise. */
export const DEFAULT_RESERVED_PORTS: readonly number[] = [18_001, 18_008, 18_081, 18_082];

/**
 * Ports of the annotations that the mesh reserves, sorted and unique. Each annotation is read on
 * its own, an absent primary is 8080, classes are not looked at; one that does not parse contributes nothing as a whole.
 * Reserved numbers are no error of the other functions.
 */
export function reservedPorts(
  annotations: Annotations,
  reserved: readonly number[] = DEFAULT_RESERVED_PORTS,
): number[] {
  const primary = attempt(() => [port(annotations)]);
  const listed = attempt(() => [...listedPorts(annotations)]);
  const declared = new Set([...primary, ...listed]);
  return [...new Set(reserved)].filter((each) => declared.has(each)).sort((a, b) => a - b);
}

function attempt(read: () => number[]): number[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof EndpointError) return [];
    throw error;
  }
}
