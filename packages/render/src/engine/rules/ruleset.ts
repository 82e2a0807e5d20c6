import { compareText, ruleId } from "@ringwall/rendered";
import { Protocol } from "@ringwall/wire";
import { isRendered, ruleEntries } from "../../full/rules.ts";
import type { EntrySpec, RuleSpec, RulesetSpec } from "../../model.ts";
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
  /** At least as many bytes as they have beside the texts of their peer sets. */
  readonly fixedBytes: number;
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

const ID_SUFFIXES: readonly string[] = [
  Protocol.UNSPECIFIED,
  Protocol.TCP,
  Protocol.UDP,
  Protocol.ICMP,
].map((protocol) => ruleId("", protocol));

/** What follows the authored id in the rendered one. */
export function idSuffix(protocol: Protocol): string {
  return ID_SUFFIXES[protocol] ?? ruleId("", protocol);
}

/** Plans the rules of a ruleset; holds a reference to each source. */
export function planRules(spec: RulesetSpec, base: PlanBase): readonly PlannedRule[] {
  const only = spec.rules.length === 1 ? spec.rules[0] : undefined;
  if (only !== undefined) {
    return planRule(spec, only, base);
  }
  // What is kept is as short as it can be: an array that grew has room for more.
  return spec.rules.flatMap((rule) => planRule(spec, rule, base)).slice();
}

/** Plans one rule for each protocol that it names. */
function planRule(
  { name }: RulesetSpec,
  rule: RuleSpec,
  { services, sources, ports: cache }: PlanBase,
): readonly PlannedRule[] {
  if (!isRendered(rule)) {
    return NO_RULES;
  }
  const isDirect = rule.services === undefined || rule.services.length === 0;
  const entries = isDirect ? (rule.entries ?? []) : ruleEntries(rule, services);
  const byProtocol = cache.read(entries);
  const first = byProtocol[0];
  if (first === undefined) {
    return NO_RULES;
  }
  const authored = authoredRuleId(name, rule);
  if (byProtocol.length === 1) {
    const { protocol, ports } = first;
    return [{ authored, protocol, ports, source: sources.hold(rule.peers), encoded: undefined }];
  }
  return byProtocol.map(({ protocol, ports }) => {
    const source = sources.hold(rule.peers);
    return { authored, protocol, ports, source, encoded: undefined };
  });
}

const NO_RULES: readonly PlannedRule[] = [];

/** Rules of several rulesets by id in byte order; of two with one id the later one stays. */
export function joinRules(rulesets: readonly Ruleset[]): readonly PlannedRule[] {
  const only = rulesets.length === 1 ? rulesets[0] : undefined;
  if (only?.rules.length === 1) {
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
