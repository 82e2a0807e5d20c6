import { compareText, ruleId } from "@ringwall/rendered";
import type { Protocol } from "@ringwall/wire";
import { isRendered, ruleEntries } from "../../full/rules.ts";
import type { EntrySpec, RulesetSpec } from "../../model.ts";
import type { PortSpan } from "../../ports.ts";
import { authoredRuleId } from "../../rule-id.ts";
import type { PeerSources } from "../peers/peer-sources.ts";
import { portsOfEntries } from "./entry-ports.ts";

/** One rule of one protocol as bodies have it, before its peers. */
export interface PlannedRule {
  /** Id in the rendered policy. */
  readonly id: string;
  readonly protocol: Protocol;
  /** In order, each once; empty means every port. */
  readonly ports: readonly PortSpan[];
  /** Source of its peers, which bears the number of its peer set. */
  readonly source: number;
}

/** What one ruleset gives to workloads in its scope. Never changes: an edit makes another one. */
export interface Ruleset {
  readonly index: number;
  readonly spec: RulesetSpec;
  /** Selector of its scope. */
  readonly scope: number;
  /** In the order in which they are authored. */
  readonly rules: readonly PlannedRule[];
}

/** Plans the rules of a ruleset; holds a reference to each source. */
export function planRules(
  spec: RulesetSpec,
  services: ReadonlyMap<string, readonly EntrySpec[]>,
  sources: PeerSources,
): PlannedRule[] {
  const planned: PlannedRule[] = [];
  for (const rule of spec.rules) {
    if (!isRendered(rule)) {
      continue;
    }
    const { services: named = [], entries = [] } = rule;
    const all = named.length === 0 ? entries : ruleEntries(rule, services);
    let id: string | undefined;
    for (const { protocol, ports } of portsOfEntries(all)) {
      id ??= authoredRuleId(spec.name, rule);
      planned.push({
        id: ruleId(id, protocol),
        protocol,
        ports,
        source: sources.hold(rule.peers),
      });
    }
  }
  // What is kept is as short as it can be: an array that was pushed to has room for more.
  return planned.slice();
}

/** Rules of several rulesets by id in byte order; of two with one id the later one stays. */
export function joinRules(rulesets: readonly Ruleset[]): readonly PlannedRule[] {
  const [only] = rulesets;
  if (only !== undefined && rulesets.length === 1 && only.rules.length === 1) {
    return only.rules;
  }
  const rules: PlannedRule[] = [];
  for (const ruleset of rulesets) {
    rules.push(...ruleset.rules);
  }
  rules.sort((a, b) => compareText(a.id, b.id));
  const repeated = rules.some((rule, index) => rule.id === rules[index + 1]?.id);
  return repeated ? rules.filter((rule, index) => rule.id !== rules[index + 1]?.id) : rules;
}
