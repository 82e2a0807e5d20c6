import { compareBytes, formatSelector, matches } from "@ringwall/labels";
import { normalizeCidr, ruleId } from "@ringwall/rendered";
import type { Protocol } from "@ringwall/wire";
import { containsCidr } from "../cidr.ts";
import { type EffectiveWorkload, effectiveWorkloads } from "../inventory/effective.ts";
import type {
  Configuration,
  EntrySpec,
  ModeName,
  PeerSpec,
  RuleSpec,
  RulesetSpec,
  WorkloadSpec,
} from "../model.ts";
import { hasPorts, type PortSpan, parsePorts, parseProtocol, protocolText } from "../ports.ts";
import { authoredRuleId } from "../rule-id.ts";

/** What a rule would have needed to match. */
export type MissedCheck = "disabled" | "direction" | "scope" | "peer" | "protocol" | "port";

/** One reason why a rule does not match. */
export interface Miss {
  readonly check: MissedCheck;
  /** One phrase for people. */
  readonly reason: string;
}

/** A rule held against a connection. */
export interface RuleVerdict {
  readonly ruleset: string;
  /** Position of the rule in its ruleset, from 0. */
  readonly position: number;
  readonly name?: string;
  /** Id in the rendered policy; absent when the rule has no such protocol. */
  readonly renderedId?: string;
  /** Peers that match, as `workloads app=web`, `address group corp (10.0.0.0/8)` or a prefix. */
  readonly peers: readonly string[];
  /** Entries that match, as `service pg` or `tcp 22`. */
  readonly entries: readonly string[];
  /** Caller's addresses that it covers. */
  readonly covers: readonly string[];
  /** Empty if it allows the connection. */
  readonly misses: readonly Miss[];
}

/** Why a connection passes or not. */
export interface ConnectionExplanation {
  /** True if it passes, be it by a rule or because the mode denies nothing. */
  readonly allowed: boolean;
  /** `rule`, `mode` (nothing is denied in it) or `none`. */
  readonly by: "rule" | "mode" | "none";
  /** Mode in force at the called workload. */
  readonly mode: ModeName;
  /** Addresses that the connection may come from. */
  readonly addresses: readonly string[];
  /** Those of them that no rule allows, if a rule allows others. */
  readonly uncovered: readonly string[];
  /** Rules that allow it, by ruleset and position. */
  readonly rules: readonly RuleVerdict[];
  /** The rule that came nearest, if none allows it. */
  readonly nearest?: RuleVerdict;
  /** One sentence for people. */
  readonly reason: string;
}

/** A connection that can't be asked about. */
export class ExplainError extends Error {
  override readonly name = "ExplainError";
  readonly code: "workload-unknown" | "address";

  constructor(code: "workload-unknown" | "address", message: string) {
    super(message);
    this.code = code;
  }
}

interface Connection {
  /** The caller, if it is a workload. */
  readonly caller: EffectiveWorkload | undefined;
  readonly called: EffectiveWorkload;
  readonly addresses: readonly string[];
  readonly port: number;
  readonly protocol: Protocol;
}

/**
 * Explains whether a workload or a bare address may connect to a workload: the rules that allow it, or
 * the one that nearly did and why it did not. By the definitions of rendering, rule by rule.
 *
 * Throws ExplainError `workload-unknown` for a callee that is none, `address` for a caller that is
 * neither a workload nor an address.
 */
export function explainConnection(
  configuration: Configuration,
  workloads: readonly WorkloadSpec[],
  from: string,
  to: string,
  port: number,
  protocol: Protocol,
): ConnectionExplanation {
  const everyone = effectiveWorkloads(configuration, workloads);
  const called = everyone.find(({ workload }) => workload.id === to);
  if (called === undefined) {
    throw new ExplainError("workload-unknown", `there is no workload "${to}"`);
  }
  const caller = everyone.find(({ workload }) => workload.id === from);
  const addresses = caller === undefined ? [normalizeCidr(from)] : hostRoutes(caller);
  if (caller === undefined && !/\/(32|128)$/.test(addresses[0] ?? "")) {
    throw new ExplainError("address", `"${from}" is neither a workload nor an address`);
  }
  const connection: Connection = { caller, called, addresses, port, protocol };
  const judge = new Judge(configuration, everyone, connection);
  const verdicts = [...configuration.rulesets]
    .sort((a, b) => compareBytes(a.name, b.name))
    .flatMap((ruleset) => ruleset.rules.map((rule, at) => judge.rule(ruleset, rule, at)));
  return conclude(connection, verdicts);
}

function conclude(
  { caller, called, addresses }: Connection,
  verdicts: readonly RuleVerdict[],
): ConnectionExplanation {
  const { mode } = called;
  const rules = verdicts.filter(({ misses }) => misses.length === 0);
  const covered = new Set(rules.flatMap(({ covers }) => covers));
  const uncovered = rules.length === 0 ? [] : addresses.filter((each) => !covered.has(each));
  const common = { mode, addresses, uncovered, rules };
  const first = rules[0];
  if (first !== undefined) {
    const rest = rules.length === 1 ? "" : ` and ${rules.length - 1} more`;
    const but = uncovered.length === 0 ? "" : `, but not from ${uncovered.join(", ")}`;
    const reason = `allowed by ${describeRule(first)}${rest}${but}`;
    return { ...common, allowed: true, by: "rule", reason };
  }
  const nearest = [...verdicts].sort((a, b) => distance(a) - distance(b))[0];
  const near = nearest === undefined ? {} : { nearest };
  const noAddress = caller !== undefined && addresses.length === 0;
  const why = noAddress
    ? `${caller.workload.id} has no address that could be a peer`
    : nearest === undefined
      ? "there is no rule"
      : `no rule allows it; nearest is ${describeRule(nearest)}: ${nearest.misses
          .map(({ reason }) => reason)
          .join("; ")}`;
  return mode === "enforced"
    ? { ...common, ...near, allowed: false, by: "none", reason: `denied: ${why}` }
    : { ...common, ...near, allowed: true, by: "mode", reason: `passes in ${mode} mode: ${why}` };
}

/** How much would have to change; what is far from the rule's intent counts more. */
const WEIGHTS: Readonly<Record<MissedCheck, number>> = {
  disabled: 10,
  port: 11,
  protocol: 12,
  peer: 13,
  scope: 14,
  direction: 40,
};

function distance({ misses }: RuleVerdict): number {
  return misses.reduce((sum, { check }) => sum + WEIGHTS[check], 0);
}

function describeRule({ ruleset, position, name }: RuleVerdict): string {
  return `ruleset "${ruleset}" rule ${name === undefined ? `${position + 1}` : `"${name}"`}`;
}

/** Host routes of a workload as peers see it; an expired one has none. */
function hostRoutes({ workload }: EffectiveWorkload): string[] {
  return workload.presence === "expired" ? [] : workload.addresses.map(normalizeCidr);
}

class Judge {
  readonly #services: ReadonlyMap<string, readonly EntrySpec[]>;
  readonly #groups: ReadonlyMap<string, readonly string[]>;
  readonly #everyone: readonly EffectiveWorkload[];
  readonly #connection: Connection;

  constructor(
    configuration: Configuration,
    everyone: readonly EffectiveWorkload[],
    connection: Connection,
  ) {
    this.#services = new Map(configuration.services.map(({ name, entries }) => [name, entries]));
    this.#groups = new Map(configuration.addressGroups.map(({ name, cidrs }) => [name, cidrs]));
    this.#everyone = everyone;
    this.#connection = connection;
  }

  rule(ruleset: RulesetSpec, rule: RuleSpec, position: number): RuleVerdict {
    const { called, protocol } = this.#connection;
    const misses: Miss[] = [];
    if (ruleset.enabled === false) {
      misses.push({ check: "disabled", reason: "its ruleset is disabled" });
    } else if (rule.enabled === false) {
      misses.push({ check: "disabled", reason: "it is disabled" });
    }
    if ((rule.direction ?? "inbound").trim().toLowerCase() !== "inbound") {
      misses.push({ check: "direction", reason: `its direction is ${rule.direction}` });
    }
    if (!matches(ruleset.scope, called.labels)) {
      const reason = `its scope ${formatSelector(ruleset.scope)} does not match the labels of ${called.workload.id}`;
      misses.push({ check: "scope", reason });
    }
    const found = rule.peers.map((peer) => this.#peer(peer));
    const covers = new Set(found.flatMap(({ covers: each }) => each));
    if (covers.size === 0) {
      misses.push({ check: "peer", reason: this.#peerReason(rule) });
    }
    const entries = this.#entries(rule, misses);
    return {
      ruleset: ruleset.name,
      position,
      ...(rule.name === undefined ? {} : { name: rule.name }),
      ...(entries.served
        ? { renderedId: ruleId(authoredRuleId(ruleset.name, rule), protocol) }
        : {}),
      peers: found.filter(({ covers: each }) => each.length > 0).map(({ text }) => text),
      entries: entries.matching,
      covers: [...covers],
      misses,
    };
  }

  #peer(peer: PeerSpec): { text: string; covers: readonly string[] } {
    const { addresses } = this.#connection;
    if (peer.workloads !== undefined) {
      const routes = new Set(
        this.#everyone
          .filter(({ labels }) => matches(peer.workloads, labels))
          .flatMap((member) => hostRoutes(member)),
      );
      const text = `workloads ${formatSelector(peer.workloads)}`;
      return { text, covers: addresses.filter((each) => routes.has(each)) };
    }
    const group = peer.addressGroup;
    const cidrs = group === undefined ? [peer.cidr ?? ""] : (this.#groups.get(group) ?? []);
    const hit = cidrs.filter((cidr) => addresses.some((each) => containsCidr(cidr, each)));
    const covers = addresses.filter((each) => hit.some((cidr) => containsCidr(cidr, each)));
    const text =
      group === undefined ? hit.join(", ") : `address group ${group} (${hit.join(", ")})`;
    return { text, covers };
  }

  #peerReason(rule: RuleSpec): string {
    const { caller, addresses } = this.#connection;
    const who = caller?.workload.id ?? addresses.join(", ");
    const wanted = rule.peers.map(({ workloads, addressGroup, cidr }) =>
      workloads === undefined
        ? addressGroup === undefined
          ? `${cidr}`
          : `address group ${addressGroup}`
        : `workloads ${formatSelector(workloads)}`,
    );
    return `${who} is not among its peers (${wanted.join("; ") || "none"})`;
  }

  /** Entries that match; notes a miss if none does. */
  #entries(rule: RuleSpec, misses: Miss[]): { matching: string[]; served: boolean } {
    const { protocol, port } = this.#connection;
    const named = [
      ...(rule.services ?? []).flatMap((name) =>
        (this.#services.get(name) ?? []).map((entry) => ({ text: `service ${name}`, entry })),
      ),
      ...(rule.entries ?? []).map((entry) => ({ text: entryText(entry), entry })),
    ];
    const ours = named.filter(({ entry }) => parseProtocol(entry.protocol) === protocol);
    const matching = ours.filter(({ entry }) => takesPort(entry, protocol, port));
    if (ours.length === 0) {
      const all = [...new Set(named.map(({ entry }) => entry.protocol.trim().toLowerCase()))];
      const reason = `it allows ${all.join(", ") || "no protocol"}, not ${protocolText(protocol)}`;
      misses.push({ check: "protocol", reason });
    } else if (matching.length === 0) {
      const allowed = ours.flatMap(({ entry }) => entry.ports ?? []).join(", ");
      misses.push({ check: "port", reason: `it allows port ${allowed}, not ${port}` });
    }
    return { matching: [...new Set(matching.map(({ text }) => text))], served: ours.length > 0 };
  }
}

function takesPort(entry: EntrySpec, protocol: Protocol, port: number): boolean {
  const texts = hasPorts(protocol) ? (entry.ports ?? []) : [];
  const spans = texts.map(parsePorts).filter((each): each is PortSpan => typeof each !== "string");
  return texts.length === 0 || spans.some(({ start, end }) => start <= port && port <= end);
}

function entryText({ protocol, ports = [] }: EntrySpec): string {
  return `${protocol.trim().toLowerCase()} ${ports.length === 0 ? "every port" : ports.join(", ")}`;
}
