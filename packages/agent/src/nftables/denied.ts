import { Protocol } from "@ringwall/wire";
import { L4 } from "./l4-protocol.ts";
import { isFields } from "./live-table.ts";
import { DENIED_SETS, TABLE } from "./ruleset.ts";

/** Packets of one flow that no rule allows. */
export interface Denied {
  readonly source: string;
  readonly protocol: Protocol;
  /** 0 where the protocol has no ports. */
  readonly port: number;
  readonly packets: bigint;
}

/**
 * Arguments of the nft commands that print what `readDenied` reads: one for each set, because nft
 * 1.0 finds only the last of several that one command names.
 */
export const DENIED_LISTINGS: readonly (readonly string[])[] = Object.values(DENIED_SETS).map(
  (name) => ["list", "set", ...TABLE.split(" "), name],
);

/** Reads the flows that no rule allowed, newest last; other protocols than TCP, UDP and ICMP are left out. */
export function readDenied(listings: readonly string[]): readonly Denied[] {
  const found: { readonly denied: Denied; readonly left: number }[] = [];
  for (const listing of listings) {
    const document: unknown = JSON.parse(listing);
    const entries = isFields(document) && Array.isArray(document.nftables) ? document.nftables : [];
    for (const entry of entries) {
      const set = isFields(entry) ? entry.set : undefined;
      for (const member of isFields(set) && Array.isArray(set.elem) ? set.elem : []) {
        const elem = isFields(member) ? member.elem : undefined;
        const denied = isFields(elem) ? readMember(elem) : undefined;
        if (denied !== undefined && isFields(elem)) {
          found.push({ denied, left: typeof elem.expires === "number" ? elem.expires : 0 });
        }
      }
    }
  }
  // The kernel counts an hour from a flow's last packet, so the newest has the most time left.
  return found.sort((a, b) => a.left - b.left).map(({ denied }) => denied);
}

function readMember(elem: Readonly<Record<string, unknown>>): Denied | undefined {
  const { val, counter } = elem;
  const parts: unknown = isFields(val) ? val.concat : undefined;
  if (!Array.isArray(parts)) return undefined;
  const [source, protocolName, port]: readonly unknown[] = parts;
  const protocol = protocolOf(protocolName);
  if (typeof source !== "string" || protocol === undefined) return undefined;
  const packets = isFields(counter) ? counter.packets : 0;
  return {
    source,
    protocol,
    port: typeof port === "number" ? port : 0,
    packets: BigInt(typeof packets === "number" ? packets : 0),
  };
}

function protocolOf(name: unknown): Protocol | undefined {
  // A name where the host has a protocol database, else the number.
  switch (name) {
    case "tcp":
    case L4.tcp:
      return Protocol.TCP;
    case "udp":
    case L4.udp:
      return Protocol.UDP;
    case "icmp":
    case "ipv6-icmp":
    case L4.icmp:
    case L4["ipv6-icmp"]:
      return Protocol.ICMP;
    default:
      return undefined;
  }
}
