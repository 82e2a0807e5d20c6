import type { Protocol } from "@ringwall/wire";
import type { EntrySpec } from "../../model.ts";
import { hasPorts, type PortSpan, parsePorts, parseProtocol } from "../../ports.ts";

/** Ports of one protocol of a rule. */
export interface EntryPorts {
  readonly protocol: Protocol;
  /** In order, each once; empty means every port. */
  readonly ports: readonly PortSpan[];
}

interface Gathered {
  readonly protocol: Protocol;
  readonly ports: PortSpan[];
  everyPort: boolean;
}

const NONE: readonly PortSpan[] = [];

/**
 * Ports of each protocol that entries name. An entry without ports takes in every other one of its
 * protocol; one whose ports all do not parse gives nothing, so that it never means every port.
 */
export function portsOfEntries(entries: readonly EntrySpec[]): readonly EntryPorts[] {
  const [only] = entries;
  if (only !== undefined && entries.length === 1) {
    return portsOfEntry(only);
  }
  const found: Gathered[] = [];
  for (const { protocol: name, ports: texts = [] } of entries) {
    const protocol = parseProtocol(name);
    if (protocol === undefined) {
      continue;
    }
    const everyPort = texts.length === 0 || !hasPorts(protocol);
    const ports = everyPort ? [] : parseAll(texts);
    const known = find(found, protocol);
    if (known !== undefined) {
      known.everyPort ||= everyPort;
      known.ports.push(...ports);
    } else if (everyPort || ports.length > 0) {
      found.push({ protocol, ports, everyPort });
    }
  }
  return found.map(({ protocol, ports, everyPort }) => ({
    protocol,
    ports: everyPort ? NONE : inOrder(ports),
  }));
}

/** The same for one entry, as most rules have. */
function portsOfEntry({ protocol: name, ports: texts = [] }: EntrySpec): readonly EntryPorts[] {
  const protocol = parseProtocol(name);
  if (protocol === undefined) {
    return [];
  }
  if (texts.length === 0 || !hasPorts(protocol)) {
    return [{ protocol, ports: NONE }];
  }
  const ports = parseAll(texts);
  return ports.length === 0 ? [] : [{ protocol, ports: inOrder(ports) }];
}

/** Every range that parses. */
function parseAll(texts: readonly string[]): PortSpan[] {
  const [only] = texts;
  if (only !== undefined && texts.length === 1) {
    const span = parsePorts(only);
    // An array literal takes a fifth of the memory of one that is pushed to.
    return typeof span === "string" ? [] : [span];
  }
  return texts.flatMap((text) => {
    const span = parsePorts(text);
    return typeof span === "string" ? [] : [span];
  });
}

function find(found: readonly Gathered[], protocol: Protocol): Gathered | undefined {
  for (const each of found) {
    if (each.protocol === protocol) {
      return each;
    }
  }
  return undefined;
}

/** In order of start and end, each range once; nothing is merged. */
function inOrder(ports: readonly PortSpan[]): readonly PortSpan[] {
  if (ports.length < 2) {
    return ports;
  }
  const sorted = ports.toSorted((a, b) => a.start - b.start || a.end - b.end);
  return sorted.filter(({ start, end }, index) => {
    const before = sorted[index - 1];
    return before?.start !== start || before.end !== end;
  });
}
