import { LIMITS } from "../limits.ts";
import type { EntrySpec } from "../model.ts";
import { hasPorts, parsePorts, parseProtocol } from "../ports.ts";
import type { Note } from "./note.ts";

/** Checks protocols and ports of a service or a rule; `path` is the list's. */
export function checkEntries(entries: readonly EntrySpec[], path: string, note: Note): void {
  entries.forEach((entry, index) => {
    const at = `${path}[${index}]`;
    const protocol = parseProtocol(entry.protocol);
    if (protocol === undefined) {
      const message = `protocol "${entry.protocol}" is not known; write tcp, udp or icmp`;
      note(`${at}.protocol`, "protocol", message);
    } else if (!hasPorts(protocol) && (entry.ports ?? []).length > 0) {
      const message = `protocol ${entry.protocol} has no ports; leave them out`;
      note(`${at}.ports`, "ports-on-portless-protocol", message);
      return;
    }
    entry.ports?.forEach((text, position) => {
      const ports = parsePorts(text);
      if (ports === "port-spec") {
        const message = `"${text}" is no port; write one such as 22 or a range such as 6000-6010`;
        note(`${at}.ports[${position}]`, ports, message);
      } else if (ports === "port-range") {
        const message = `"${text}" is out of range: first to last, neither above ${LIMITS.port}`;
        note(`${at}.ports[${position}]`, ports, message);
      }
    });
  });
}
