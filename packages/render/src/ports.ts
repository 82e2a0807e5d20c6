import { Protocol } from "@ringwall/wire";
import { LIMITS } from "./limits.ts";

/** An inclusive range of ports. */
export interface PortSpan {
  readonly start: number;
  readonly end: number;
}

/** Why a port text is no port: not a number or range at all, or one that no port can be. */
export type PortProblem = "port-spec" | "port-range";

const PORT = /^(\d+)(?:-(\d+))?$/;
const UINT32_MAX = 0xffffffff;

/** Reads `22` or `6000-6010`, trimmed. Numbers beyond 32 bits are no numbers. */
export function parsePorts(text: string): PortSpan | PortProblem {
  const match = PORT.exec(text.trim());
  if (match === null) {
    return "port-spec";
  }
  const start = Number(match[1]);
  const end = match[2] === undefined ? start : Number(match[2]);
  if (start > UINT32_MAX || end > UINT32_MAX) {
    return "port-spec";
  }
  return start > end || end > LIMITS.port ? "port-range" : { start, end };
}

const PROTOCOLS: ReadonlyMap<string, Protocol> = new Map([
  ["tcp", Protocol.TCP],
  ["udp", Protocol.UDP],
  ["icmp", Protocol.ICMP],
]);

/** Name of a protocol as documents write it. */
export function protocolText(protocol: Protocol): string {
  for (const [name, each] of PROTOCOLS) {
    if (each === protocol) {
      return name;
    }
  }
  return "unspecified";
}

/** Reads a protocol name, trimmed and case-insensitive; undefined if it is not known. */
export function parseProtocol(text: string): Protocol | undefined {
  return PROTOCOLS.get(text.trim().toLowerCase());
}

/** True if the protocol has ports. */
export function hasPorts(protocol: Protocol): boolean {
  return protocol === Protocol.TCP || protocol === Protocol.UDP;
}
