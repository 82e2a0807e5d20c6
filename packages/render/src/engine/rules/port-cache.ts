import type { EntrySpec } from "../../model.ts";
import { type EntryPorts, portsOfEntries } from "./entry-ports.ts";

/** Texts of ports that are remembered for one protocol; there are as many ports. */
const MOST_TEXTS = 65_536;
const EVERY_PORT = "";

/**
 * Reads the ports of entries. Most rules have one entry with one port, and few ports are in use: each
 * of those is read once and is one object, however many rules open it.
 */
export class PortCache {
  /** By text of the protocol, then by text of the port. */
  readonly #known = new Map<string, Map<string, readonly EntryPorts[]>>();

  /** `portsOfEntries` of these. */
  read(entries: readonly EntrySpec[]): readonly EntryPorts[] {
    const only = entries[0];
    if (only === undefined || entries.length > 1 || (only.ports?.length ?? 0) > 1) {
      return portsOfEntries(entries);
    }
    const byPort = this.#ofProtocol(only.protocol);
    const port = only.ports?.[0] ?? EVERY_PORT;
    const isKeyed = port !== EVERY_PORT || (only.ports?.length ?? 0) === 0;
    let ports = isKeyed ? byPort.get(port) : undefined;
    if (ports === undefined) {
      ports = portsOfEntries(entries);
      if (isKeyed) {
        byPort.set(port, ports);
      }
    }
    return ports;
  }

  #ofProtocol(protocol: string): Map<string, readonly EntryPorts[]> {
    let byPort = this.#known.get(protocol);
    if (byPort === undefined || byPort.size >= MOST_TEXTS) {
      byPort = new Map();
      this.#known.set(protocol, byPort);
    }
    return byPort;
  }
}
