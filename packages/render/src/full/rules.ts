import { compareBytes } from "@ringwall/labels";
import { ruleId } from "@ringwall/rendered";
import type { Protocol } from "@ringwall/wire";
import type { Configuration, EntrySpec, RuleSpec } from "../model.ts";
import { hasPorts, type PortSpan, parsePorts, parseProtocol } from "../ports.ts";
import { authoredRuleId } from "../rule-id.ts";
import { type PeerSource, PeerSources } from "./peer-sets.ts";
import { type Selector, SelectorIndex } from "./selector-index.ts";

/** One rule of one protocol, before its peers are resolved. */
export interface RulePlan {
  /** Id in the rendered policy. */
  readonly id: string;
  readonly protocol: Protocol;
  /** Empty means every port. */
  readonly ports: readonly PortSpan[];
  readonly peers: PeerSource;
}

/** What one enabled ruleset gives to each workload in its scope. */
export interface RulesetPlan {
  readonly index: number;
  readonly scope: Selector;
  readonly rules: readonly RulePlan[];
}

/** All rulesets with their selectors and peer sources interned. */
export interface RulesPlan {
  readonly rulesets: readonly RulesetPlan[];
  readonly selectors: SelectorIndex;
  readonly sources: PeerSources;
}

/** Plans what a configuration's rulesets render to, in byte order of their names. */
export function planRules(configuration: Configuration): RulesPlan {
  const selectors = new SelectorIndex();
  const sources = new PeerSources();
  const services = new Map(configuration.services.map(({ name, entries }) => [name, entries]));
  const groups = new Map(configuration.addressGroups.map(({ name, cidrs }) => [name, cidrs]));
  const rulesets = configuration.rulesets
    .filter(({ enabled }) => enabled !== false)
    .sort((a, b) => compareBytes(a.name, b.name))
    .map((ruleset, index) => ({
      index,
      scope: selectors.intern(ruleset.scope),
      rules: ruleset.rules.filter(isRendered).flatMap((rule) => {
        const peers = sources.intern(
          rule.peers.flatMap(({ workloads }) => (workloads ? selectors.intern(workloads) : [])),
          rule.peers.flatMap(({ addressGroup, cidr }) => [
            ...(addressGroup === undefined ? [] : (groups.get(addressGroup) ?? [])),
            ...(cidr === undefined ? [] : [cidr]),
          ]),
        );
        const id = authoredRuleId(ruleset.name, rule);
        return [...portsByProtocol(ruleEntries(rule, services))].map(([protocol, ports]) => ({
          id: ruleId(id, protocol),
          protocol,
          ports,
          peers,
        }));
      }),
    }));
  return { rulesets, selectors, sources };
}

/** True for a rule that is rendered: enabled and inbound. */
export function isRendered(rule: RuleSpec): boolean {
  return (
    rule.enabled !== false &&
    (rule.direction === undefined || rule.direction.trim().toLowerCase() === "inbound")
  );
}

/** Entries of a rule: those of its services, then its own. A service that is gone gives nothing. */
export function ruleEntries(
  rule: RuleSpec,
  services: ReadonlyMap<string, readonly EntrySpec[]>,
): EntrySpec[] {
  return [
    ...(rule.services ?? []).flatMap((name) => services.get(name) ?? []),
    ...(rule.entries ?? []),
  ];
}

/** Ports of each protocol present; an entry without ports takes in every other of its protocol. */
export function portsByProtocol(entries: readonly EntrySpec[]): ReadonlyMap<Protocol, PortSpan[]> {
  const result = new Map<Protocol, PortSpan[]>();
  const everyPort = new Set<Protocol>();
  for (const entry of entries) {
    const protocol = parseProtocol(entry.protocol);
    if (protocol === undefined) {
      continue;
    }
    const texts = hasPorts(protocol) ? (entry.ports ?? []) : [];
    if (texts.length === 0) {
      everyPort.add(protocol);
    }
    const spans = texts.flatMap((text) => {
      const span = parsePorts(text);
      return typeof span === "string" ? [] : [span];
    });
    const list = result.get(protocol);
    // A listed port that does not parse must not leave an entry that means every port.
    if (list !== undefined) {
      list.push(...spans);
    } else if (spans.length > 0 || texts.length === 0) {
      result.set(protocol, spans);
    }
  }
  for (const protocol of everyPort) {
    result.set(protocol, []);
  }
  return result;
}
