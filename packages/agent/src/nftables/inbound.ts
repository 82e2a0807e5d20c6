import { Protocol, type ResolvedRule } from "@ringwall/wire";
import { commentOf } from "./comment.ts";
import { inexpressible } from "./inexpressible.ts";
import { L4 } from "./l4-protocol.ts";
import { peerCover } from "./peer-cover.ts";
import { portMatch } from "./port-cover.ts";
import type { AddressSet } from "./ruleset.ts";

const KINDS = [
  { key: "hosts4", family: "ip", type: "ipv4_addr", interval: false },
  { key: "nets4", family: "ip", type: "ipv4_addr", interval: true },
  { key: "hosts6", family: "ip6", type: "ipv6_addr", interval: false },
  { key: "nets6", family: "ip6", type: "ipv6_addr", interval: true },
] as const;

/** What the allow rules compile to. */
export interface Inbound {
  readonly rules: readonly string[];
  readonly addressSets: readonly AddressSet[];
  /** Rule id of each comment. */
  readonly ruleIds: ReadonlyMap<string, string>;
}

/**
 * One nft rule and one set for each family and kind of peer that a rule has. A set that `keep` names
 * stays although it is empty, so that peers can leave and return without a new frame. A rule with no
 * peers allows nothing.
 */
export function compileInbound(
  inboundRules: readonly ResolvedRule[],
  keep: ReadonlySet<string>,
): Inbound {
  const rules: string[] = [];
  const addressSets: AddressSet[] = [];
  const ruleIds = new Map<string, string>();
  inboundRules.forEach((rule, index) => {
    const { ruleId } = rule;
    const comment = commentOf(ruleId);
    ruleIds.set(comment, ruleId);
    const cover = peerCover(rule.peerCidrs, ruleId);
    const matches = {
      ip: protocolMatch(rule, "icmp"),
      ip6: protocolMatch(rule, "ipv6-icmp"),
    };
    for (const { key, family, type, interval } of KINDS) {
      const name = `r${index}_${key}`;
      const elements = cover[key];
      if (elements.length === 0 && !keep.has(name)) continue;
      addressSets.push({ name, type, interval, elements });
      rules.push(`${family} saddr @${name} ${matches[family]} counter accept comment "${comment}"`);
    }
  });
  return { rules, addressSets, ruleIds };
}

function protocolMatch(rule: ResolvedRule, icmp: "icmp" | "ipv6-icmp"): string {
  switch (rule.protocol) {
    case Protocol.TCP:
      return portMatch("tcp", rule.ports, rule.ruleId);
    case Protocol.UDP:
      return portMatch("udp", rule.ports, rule.ruleId);
    case Protocol.ICMP:
      return `meta l4proto ${L4[icmp]}`;
    default:
      throw inexpressible(`protocol ${rule.protocol} of rule "${rule.ruleId}" is not known`);
  }
}
