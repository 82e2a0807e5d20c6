import { compareText, ruleId } from "@ringwall/rendered";
import type { Protocol } from "@ringwall/wire";
import { isRendered, ruleEntries } from "../../full/rules.ts";
import type { EntrySpec, RulesetSpec } from "../../model.ts";
import type { PortSpan } from "../../ports.ts";
import { authoredRuleId } from "../../rule-id.ts";
import type { PeerSources } from "../peers/peer-sources.ts";
import type { PortCache } from "./port-cache.ts";

/** One rule of one protocol as bodies have it, before its peers. */
export interface PlannedRule {
  /** Id of the authored rule; with the protocol it is that of the rendered one. */
  readonly authored: string;
  readonly protocol: Protocol;
  /** In order, each once; empty means every port. */
  readonly ports: readonly PortSpan[];
  /** Source of its peers, which bears the number of its peer set. */
  readonly source: number;
  /** What of it does not change in a BodyManifest, once it was written twice; see `writeRule`. */
  encoded: Uint8Array | undefined;
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

/** What rules are planned with. */
export interface PlanBase {
  readonly services: ReadonlyMap<string, readonly EntrySpec[]>;
  readonly sources: PeerSources;
  readonly ports: PortCache;
}

/** Id in the rendered policy. */
export function plannedId({ authored, protocol }: PlannedRule): string {
  return ruleId(authored, protocol);
}

/** Plans the rules of a ruleset; holds a reference to each source. */
export function planRules(
  spec: RulesetSpec,
  { services, sources, ports: cache }: PlanBase,
): readonly PlannedRule[] {
  const planned: PlannedRule[] = [];
  for (const rule of spec.rules) {
    if (!isRendered(rule)) {
      continue;
    }
    const { services: named = [], entries = [] } = rule;
    const all = named.length === 0 ? entries : ruleEntries(rule, services);
    const byProtocol = cache.read(all);
    const [first] = byProtocol;
    if (first === undefined) {
      continue;
    }
    const authored = authoredRuleId(spec.name, rule);
    if (spec.rules.length === 1 && byProtocol.length === 1) {
      // An array that was pushed to has room for more, and most rulesets have one rule.
      const { protocol, ports } = first;
      return [{ authored, protocol, ports, source: sources.hold(rule.peers), encoded: undefined }];
    }
    for (const { protocol, ports } of byProtocol) {
      const source = sources.hold(rule.peers);
      planned.push({ authored, protocol, ports, source, encoded: undefined });
    }
  }
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
  rules.sort(compareRules);
  const repeated = rules.some((rule, index) => hasSameId(rule, rules[index + 1]));
  return repeated ? rules.filter((rule, index) => !hasSameId(rule, rules[index + 1])) : rules;
}

/** Byte order of the rendered ids. */
export function compareRules(a: PlannedRule, b: PlannedRule): number {
  if (a.protocol === b.protocol && a.authored === b.authored) {
    return 0;
  }
  if (a.authored.length === b.authored.length && a.authored !== b.authored) {
    return compareText(a.authored, b.authored);
  }
  return compareText(plannedId(a), plannedId(b));
}

function hasSameId(a: PlannedRule, b: PlannedRule | undefined): boolean {
  return a.authored === b?.authored && a.protocol === b.protocol;
}
