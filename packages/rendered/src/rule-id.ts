import { Protocol } from "@ringwall/wire";
import { RenderedError } from "./errors.ts";

const NAMES: ReadonlyMap<number, string> = new Map([
  [Protocol.UNSPECIFIED, "unspecified"],
  [Protocol.TCP, "tcp"],
  [Protocol.UDP, "udp"],
  [Protocol.ICMP, "icmp"],
]);

const PROTOCOLS: ReadonlyMap<string, Protocol> = new Map<string, Protocol>([
  ["TCP", Protocol.TCP],
  ["UDP", Protocol.UDP],
  ["ICMP", Protocol.ICMP],
]);

/** What a rule id was made from. */
export interface Provenance {
  /** Id of the authored rule. */
  readonly authoredId: string;
  readonly protocol: Protocol;
}

/** Name of a protocol in lower case; an unknown number is its decimal text. */
export function protocolName(protocol: Protocol): string {
  return NAMES.get(protocol) ?? String(protocol);
}

/** Id of the rendered rule of an authored rule for one protocol: `<authored id>/tcp`. */
export function ruleId(authoredId: string, protocol: Protocol): string {
  return `${authoredId}/${protocolName(protocol)}`;
}

/**
 * Takes a rule id apart at its first `/`. The protocol is read without regard to case.
 *
 * @throws RenderedError `provenance` if there is no authored id or no protocol that has a name
 */
export function provenance(id: string): Provenance {
  const slash = id.indexOf("/");
  const protocol = slash > 0 ? PROTOCOLS.get(id.slice(slash + 1).toUpperCase()) : undefined;
  if (protocol === undefined) {
    throw new RenderedError(
      "provenance",
      `rule id "${id}" is not "<authored id>/<tcp|udp|icmp>": it was not rendered from a rule`,
    );
  }
  return { authoredId: id.slice(0, slash), protocol };
}
