import { headers, type MsgHdrs } from "@nats-io/nats-core";
import type { Headers } from "@ringwall/actor";

/** Names of the headers that Ringwall and the server use. */
export const HEADER = {
  type: "Rw-Type",
  write: "Rw-Write",
  trace: "traceparent",
  expectStream: "Nats-Expected-Stream",
  expectSequence: "Nats-Expected-Last-Subject-Sequence",
  expectFilter: "Nats-Expected-Last-Subject-Sequence-Subject",
  ttl: "Nats-TTL",
  rollup: "Nats-Rollup",
  kvOperation: "KV-Operation",
} as const;

/** Headers of a purge of one KV key; with `ttl` (for example "24h") the marker goes after that. */
export function purgeHeaders(ttl?: string): Headers {
  return {
    [HEADER.kvOperation]: "PURGE",
    [HEADER.rollup]: "sub",
    ...(ttl === undefined ? {} : { [HEADER.ttl]: ttl }),
  };
}

/** Headers of a core message that belongs to a trace. */
export function traceHeaders(trace: string): MsgHdrs | undefined {
  return toWire({ [HEADER.trace]: trace });
}

/** Headers as the client library wants them; undefined if there are none. */
export function toWire(...parts: (Headers | undefined)[]): MsgHdrs | undefined {
  let wire: MsgHdrs | undefined;
  for (const part of parts) {
    for (const [name, value] of Object.entries(part ?? {})) {
      wire ??= headers();
      wire.set(name, value);
    }
  }
  return wire;
}

const NONE: Headers = Object.freeze({});

/** Headers as reducers see them: the first value of each name. */
export function fromWire(wire: MsgHdrs | undefined): Headers {
  if (wire === undefined) {
    return NONE;
  }
  const plain: Record<string, string> = {};
  for (const [name, values] of wire) {
    plain[name] = values[0] ?? "";
  }
  return plain;
}
