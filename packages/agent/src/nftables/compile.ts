import { bodyDigest, type Canonical } from "@ringwall/rendered";
import { EnforcementMode, type WorkloadPolicy } from "@ringwall/wire";
import { type AlwaysAccept, baselineRules } from "./baseline.ts";
import { compileInbound } from "./inbound.ts";
import { inexpressible } from "./inexpressible.ts";
import { L4 } from "./l4-protocol.ts";
import { compileOutbound } from "./outbound.ts";
import {
  ALLOW_CHAIN,
  BODY_CHAIN,
  type Chain,
  CUT_SETS,
  DENIED_SETS,
  INPUT_CHAIN,
  type Ruleset,
} from "./ruleset.ts";
import { fullScript } from "./script.ts";

export type { AlwaysAccept } from "./baseline.ts";

/** Options of the compiler. */
export interface CompileOptions {
  /** Inbound ports of the host's own rescue; default none. */
  readonly alwaysAccept?: readonly AlwaysAccept[];
  /** Packets that no rule allows and that are logged, per second; default 1, 0 logs none. */
  readonly logPerSecond?: number;
}

const LOG_PER_SECOND = 1;
const LOG_BURST = 5;
/** Different flows without a rule that are remembered, each for an hour after its last packet. */
const DENIED_SIZE = 4096;
const CUT_SIZE = 65_535;
/** Mark of packets that enforced mode would deny. */
const WOULD_DENY_MARK = "0x72770001";

const NO_SETS: ReadonlySet<string> = new Set();

/**
 * Compiles a policy. `keep` names sets that stay although they are empty. Throws AgentError
 * `policy-not-expressible` on a mode, peer, port, protocol or endpoint that can't be written as a
 * rule: nothing of a policy reaches a script unparsed.
 */
export function compileRuleset(
  policy: Canonical<WorkloadPolicy>,
  options: CompileOptions,
  keep: ReadonlySet<string> = NO_SETS,
): Ruleset {
  const inbound = compileInbound(policy.inboundRules, keep);
  const outbound = compileOutbound(policy.outboundRoutes);
  const body = bodyDigest(policy);
  return {
    body,
    addressSets: [...inbound.addressSets, ...outbound.addressSets],
    flowSets: [...deniedSets(), ...cutSets()],
    chains: [
      { name: `${BODY_CHAIN}${body}`, hook: "", rules: [] },
      { name: ALLOW_CHAIN, hook: "", rules: inbound.rules },
      inputChain(policy.mode, options),
      ...outbound.chains,
    ],
    ruleIds: inbound.ruleIds,
  };
}

/**
 * The nft script that puts a policy in force: one table `inet ringwall`, replaced whole, so that
 * loading it is one transaction. Throws as `compileRuleset` does.
 */
export function compileNftables(
  policy: Canonical<WorkloadPolicy>,
  options: CompileOptions,
): string {
  return fullScript(compileRuleset(policy, options));
}

/** The modes differ in the last rule only. */
function inputChain(mode: EnforcementMode, options: CompileOptions): Chain {
  const logged = options.logPerSecond ?? LOG_PER_SECOND;
  const [loopback = "", ...baseline] = baselineRules(options.alwaysAccept ?? []);
  return {
    name: INPUT_CHAIN,
    hook: "type filter hook input priority filter; policy accept;",
    rules: [
      loopback,
      ...(["ip", "ip6"] as const).map(
        (family) =>
          `${family} saddr . meta l4proto . th sport . th dport @${CUT_SETS[family]} counter drop comment "cut off"`,
      ),
      ...baseline,
      `jump ${ALLOW_CHAIN} comment "rules"`,
      ...noteRules("ipv4", "ip", DENIED_SETS.ports4, DENIED_SETS.other4),
      ...noteRules("ipv6", "ip6", DENIED_SETS.ports6, DENIED_SETS.other6),
      ...(logged === 0
        ? []
        : [
            `limit rate ${logged}/second burst ${LOG_BURST} packets log prefix "ringwall: not allowed " comment "log"`,
          ]),
      `meta l4proto != { ${Object.values(L4).join(", ")} } counter comment "other protocols"`,
      lastRule(mode),
    ],
  };
}

/** Notes who sent what no rule allows. A full set stops neither the note's rule nor the next one. */
function noteRules(nfproto: string, family: string, ports: string, other: string): string[] {
  return [
    `meta nfproto ${nfproto} meta l4proto { ${L4.tcp}, ${L4.udp} } update @${ports} { ${family} saddr . meta l4proto . th dport } comment "note ports"`,
    `meta nfproto ${nfproto} meta l4proto != { ${L4.tcp}, ${L4.udp} } update @${other} { ${family} saddr . meta l4proto } comment "note others"`,
  ];
}

function deniedSets(): string[] {
  const declare = (name: string, type: string) =>
    `set ${name} { type ${type}; size ${DENIED_SIZE}; flags dynamic,timeout; timeout 1h; counter; }`;
  return [
    declare(DENIED_SETS.ports4, "ipv4_addr . inet_proto . inet_service"),
    declare(DENIED_SETS.other4, "ipv4_addr . inet_proto"),
    declare(DENIED_SETS.ports6, "ipv6_addr . inet_proto . inet_service"),
    declare(DENIED_SETS.other6, "ipv6_addr . inet_proto"),
  ];
}

function cutSets(): string[] {
  const declare = (name: string, type: string) =>
    `set ${name} { type ${type} . inet_proto . inet_service . inet_service; size ${CUT_SIZE}; flags timeout; timeout 1h; }`;
  return [declare(CUT_SETS.ip, "ipv4_addr"), declare(CUT_SETS.ip6, "ipv6_addr")];
}

function lastRule(mode: EnforcementMode): string {
  switch (mode) {
    case EnforcementMode.ENFORCED:
      return 'counter drop comment "denied"';
    case EnforcementMode.SIMULATION:
      return `meta mark set ${WOULD_DENY_MARK} counter accept comment "would be denied"`;
    case EnforcementMode.VISIBILITY:
      return 'counter accept comment "not allowed by a rule"';
    default:
      // Whoever sends no mode must not open a host by that.
      throw inexpressible(`mode ${String(mode)} is not known to this agent`);
  }
}
