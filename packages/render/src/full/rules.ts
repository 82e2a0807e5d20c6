import { compareBytes } from "@ringwall/labels";
import { ruleId } from "@ringwall/rendered";
import type { Protocol } from "@ringwall/wire";
import type { Configuration, EntrySpec, RuleSpec, RulesetSpec } from "../model.ts";
import { hasPorts, type PortSpan, parsePorts, parseProtocol } from "../ports.ts";
import { authoredRuleId } from "../rule-id.ts";
import { type PeerSource, PeerSources } from "./peer-sets.ts";
import { type Selector, SelectorIndex } from "./selector-index.ts";
import { mapSteps, type Steps } from "./steps.ts";

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
export function* planSteps(configuration: Configuration): Steps<RulesPlan> {
  const planner = new Planner(configuration);
  const enabled = configuration.rulesets
    .filter((ruleset) => ruleset.enabled !== false)
    .sort((a, b) => compareBytes(a.name, b.name));
  yield;
  const rulesets = yield* mapSteps(
    enabled,
    (ruleset, index) => planner.ruleset(ruleset, index),
    RULESETS_PER_STEP,
  );
  return { rulesets, selectors: planner.selectors, sources: planner.sources };
}

const RULESETS_PER_STEP = 100;

class Planner {
  readonly selectors = new SelectorIndex();
  readonly sources = new PeerSources();
  readonly #services: ReadonlyMap<string, readonly EntrySpec[]>;
  readonly #groups: ReadonlyMap<string, readonly string[]>;

  constructor({ services, addressGroups }: Configuration) {
    this.#services = new Map(services.map(({ name, entries }) => [name, entries]));
    this.#groups = new Map(addressGroups.map(({ name, cidrs }) => [name, cidrs]));
  }

  ruleset(ruleset: RulesetSpec, index: number): RulesetPlan {
    const scope = this.selectors.intern(ruleset.scope);
    const rules = ruleset.rules
      .filter(isRendered)
      .flatMap((rule) => this.#rule(authoredRuleId(ruleset.name, rule), rule));
    return { index, scope, rules };
  }

  #rule(id: string, rule: RuleSpec): RulePlan[] {
    const peers = this.sources.intern(
      rule.peers.flatMap(({ workloads }) => (workloads ? this.selectors.intern(workloads) : [])),
      rule.peers.flatMap(({ addressGroup, cidr }) => [
        ...(addressGroup === undefined ? [] : (this.#groups.get(addressGroup) ?? [])),
        ...(cidr === undefined ? [] : [cidr]),
      ]),
    );
    const byProtocol = portsByProtocol(ruleEntries(rule, this.#services));
    return Array.from(byProtocol, ([protocol, ports]) => ({
      id: ruleId(id, protocol),
      protocol,
      ports,
      peers,
    }));
  }
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
