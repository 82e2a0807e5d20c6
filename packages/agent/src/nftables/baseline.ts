import { checkPort } from "./inexpressible.ts";

/** A port that stays open whatever the policy says. */
export interface AlwaysAccept {
  readonly protocol: "tcp" | "udp";
  readonly port: number;
}

/**
 * What every host takes in whatever its policy says, because without it the host itself would fail:
 * its own loopback, answers to what it began, IPv6 neighbour discovery and the multicast queries that
 * keep it working on snooping switches (RFC 4890 §4.4.1), the ICMP errors that path MTU discovery
 * needs, leases of its addresses, and the ports of the host's own rescue.
 */
export function baselineRules(alwaysAccept: readonly AlwaysAccept[]): readonly string[] {
  return [
    accept('iif "lo"', "loopback"),
    accept("ct state established,related", "established"),
    accept(
      "ip6 hoplimit 255 icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert }",
      "neighbour discovery",
    ),
    accept("ip6 saddr fe80::/10 icmpv6 type mld-listener-query", "multicast listener query"),
    accept(
      "icmp type { destination-unreachable, time-exceeded, parameter-problem }",
      "ICMP errors",
    ),
    accept(
      "icmpv6 type { destination-unreachable, packet-too-big, time-exceeded, parameter-problem }",
      "ICMPv6 errors",
    ),
    accept("meta nfproto ipv4 udp sport 67 udp dport 68", "DHCPv4 client"),
    accept("ip6 saddr fe80::/10 udp sport 547 udp dport 546", "DHCPv6 client"),
    ...alwaysAccept.map(({ protocol, port }) =>
      accept(`${protocol} dport ${checkPort(port)}`, "always accept"),
    ),
  ];
}

function accept(match: string, why: string): string {
  return `${match} counter accept comment "baseline: ${why}"`;
}
