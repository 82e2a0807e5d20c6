import { isIP } from "node:net";
import type { Canonical } from "@ringwall/rendered";
import { EnforcementMode, Protocol, type ResolvedRule, type WorkloadPolicy } from "@ringwall/wire";
import { AgentError } from "../errors.ts";

/** A port that stays open whatever the policy says. */
export interface AlwaysAccept {
  readonly protocol: "tcp" | "udp";
  readonly port: number;
}

/** Options of the compiler. */
export interface CompileOptions {
  /** Inbound ports of the host's own rescue; default none. */
  readonly alwaysAccept?: readonly AlwaysAccept[];
}

const COMMENT_LIMIT = 128;

const BASELINE = [
  'iifname "lo" accept',
  "ct state established,related accept",
  "icmp type { destination-unreachable, time-exceeded, parameter-problem } accept",
  "icmpv6 type { destination-unreachable, packet-too-big, time-exceeded, parameter-problem } accept",
  "icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert } accept",
  "udp sport 67 udp dport 68 accept",
  "ip6 saddr fe80::/10 udp sport 547 udp dport 546 accept",
];

/**
 * The nft script that puts a policy in force: one table `inet ringwall`, replaced whole, so that
 * loading it is one transaction. Throws AgentError `policy-not-expressible` on a peer, port or
 * protocol that can't be written as a rule; nothing of a policy reaches the script unchecked.
 */
export function compileNftables(
  policy: Canonical<WorkloadPolicy>,
  options: CompileOptions,
): string {
  const sets: string[] = [];
  const rules: string[] = [];
  policy.inboundRules.forEach((rule, index) => {
    compileRule(rule, index, sets, rules);
  });
  const lines = [
    "table inet ringwall",
    "delete table inet ringwall",
    "table inet ringwall {",
    ...sets.map((set) => `  ${set}`),
    "  chain input {",
    "    type filter hook input priority filter; policy accept;",
    ...BASELINE.map((rule) => `    ${rule}`),
    ...(options.alwaysAccept ?? []).map(
      ({ protocol, port }) => `    ${protocol} dport ${checkPort(port)} accept`,
    ),
    ...rules.map((rule) => `    ${rule}`),
    `    ${lastRule(policy.mode)}`,
    "  }",
    "}",
    "",
  ];
  return lines.join("\n");
}

function lastRule(mode: EnforcementMode): string {
  switch (mode) {
    case EnforcementMode.ENFORCED:
      return 'counter drop comment "denied"';
    case EnforcementMode.SIMULATION:
      return 'meta mark set 0x72770001 counter accept comment "would be denied"';
    case EnforcementMode.VISIBILITY:
    case EnforcementMode.UNSPECIFIED:
      return 'counter accept comment "not allowed by a rule"';
    default:
      throw inexpressible(`mode ${String(mode)} is not known to this agent`);
  }
}

function compileRule(rule: ResolvedRule, index: number, sets: string[], rules: string[]): void {
  const peers = splitPeers(rule);
  const comment = JSON.stringify(printable(rule.ruleId).slice(0, COMMENT_LIMIT));
  for (const family of ["ip", "ip6"] as const) {
    const members = peers[family];
    if (members.length === 0) {
      continue;
    }
    const name = `rule${index}_${family}`;
    const type = family === "ip" ? "ipv4_addr" : "ipv6_addr";
    sets.push(
      `set ${name} { type ${type}; flags interval; auto-merge; elements = { ${members.join(", ")} }; }`,
    );
    const match = protocolMatch(rule, family);
    rules.push(`${family} saddr @${name} ${match} counter accept comment ${comment}`);
  }
}

function splitPeers(rule: ResolvedRule): { readonly ip: string[]; readonly ip6: string[] } {
  const peers = { ip: [] as string[], ip6: [] as string[] };
  for (const cidr of rule.peerCidrs) {
    const [address = "", length = "", ...rest] = cidr.split("/");
    const family = isIP(address);
    const limit = family === 4 ? 32 : 128;
    const valid = rest.length === 0 && /^(0|[1-9]\d{0,2})$/.test(length) && Number(length) <= limit;
    if (family === 0 || !valid || address.includes("%")) {
      throw inexpressible(`peer "${cidr}" of rule "${rule.ruleId}" is not a CIDR`);
    }
    (family === 4 ? peers.ip : peers.ip6).push(cidr);
  }
  return peers;
}

function protocolMatch(rule: ResolvedRule, family: "ip" | "ip6"): string {
  switch (rule.protocol) {
    case Protocol.TCP:
      return portMatch(rule, "tcp");
    case Protocol.UDP:
      return portMatch(rule, "udp");
    case Protocol.ICMP:
      return `meta l4proto ${family === "ip" ? "icmp" : "ipv6-icmp"}`;
    default:
      throw inexpressible(`protocol ${rule.protocol} of rule "${rule.ruleId}" is not known`);
  }
}

function portMatch(rule: ResolvedRule, protocol: "tcp" | "udp"): string {
  if (rule.ports.length === 0) {
    return `meta l4proto ${protocol}`;
  }
  const merged: { start: number; end: number }[] = [];
  for (const { start, end } of rule.ports) {
    if (checkPort(start) > checkPort(end)) {
      throw inexpressible(`ports ${start}-${end} of rule "${rule.ruleId}" are inverted`);
    }
    const last = merged.at(-1);
    if (last !== undefined && start <= last.end + 1) {
      last.end = Math.max(last.end, end);
    } else {
      merged.push({ start, end });
    }
  }
  const ranges = merged.map(({ start, end }) => (start === end ? `${start}` : `${start}-${end}`));
  return `${protocol} dport { ${ranges.join(", ")} }`;
}

function checkPort(port: number): number {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw inexpressible(`port ${port} is not in 0 to 65535`);
  }
  return port;
}

/** Comments are delimited by quotes and lines: anything that could end one is replaced. */
function printable(text: string): string {
  return text.replace(/[^A-Za-z0-9 ._/:@-]/g, "_");
}

function inexpressible(message: string): AgentError {
  return new AgentError("policy-not-expressible", message);
}
