import { type Canonical, canonical, canonicalRule } from "@ringwall/rendered";
import {
  EnforcementMode,
  type OutboundRoute,
  type PortRange,
  type ResolvedRule,
  type WorkloadPolicy,
} from "@ringwall/wire";
import type { Configuration, ModeName, WorkloadSpec } from "../model.ts";
import { type Estate, estateSteps } from "./estate.ts";
import type { LabelSet } from "./label-sets.ts";
import { OutboundRoutes } from "./outbound-routes.ts";
import { PeerSets, type PeerSource, type ResolvedPeers } from "./peer-sets.ts";
import { above, policySizeRefusal, type Refusal } from "./refusal.ts";
import { planSteps, type RulePlan, type RulesetPlan, type RulesPlan } from "./rules.ts";
import type { Selector } from "./selector-index.ts";
import { finish, mapSteps, type Steps } from "./steps.ts";

/** What became of a workload: a policy of version 0, or the limit that it breaks. */
export type Outcome =
  | { readonly policy: Canonical<WorkloadPolicy> }
  | { readonly refused: Refusal };

/** A rendered workload. Workloads of one class share one outcome object. */
export interface Rendering {
  readonly outcome: Outcome;
  readonly mode: ModeName;
  /** True if a unit names a mode weaker than enforced. */
  readonly weaker: boolean;
}

/** Every workload of an estate, rendered. */
export interface RenderResult {
  readonly renderings: ReadonlyMap<string, Rendering>;
  /** Stored rows and endpoints that were left out. */
  readonly skippedRows: number;
}

/** The wire's mode of each written one. */
export const MODES: Readonly<Record<ModeName, EnforcementMode>> = {
  visibility: EnforcementMode.VISIBILITY,
  simulation: EnforcementMode.SIMULATION,
  enforced: EnforcementMode.ENFORCED,
};

/** Units of work between two yields: some milliseconds. */
const WORKLOADS_PER_STEP = 500;
const PEERS_PER_STEP = 20_000;

/**
 * Renders a whole estate in slices: yields between them and returns the result. Workloads whose
 * label sets are in the scope of the same rulesets, with the same mode and routes, share one policy;
 * rules share their peer sets. The result does not depend on the order of anything given.
 */
export function* renderSteps(
  configuration: Configuration,
  workloads: readonly WorkloadSpec[],
): Steps<RenderResult> {
  const estate = yield* estateSteps(configuration, workloads);
  const plan = yield* planSteps(configuration);
  const { setsOf, rulesetsOf } = yield* matchSteps(plan, estate);
  const labelSets = (selector: Selector) => setsOf[selector.index] ?? [];
  const peerSets = yield* PeerSets.steps(estate, plan.sources, labelSets);
  const outbound = new OutboundRoutes(configuration, estate);
  const bodies = new Bodies(peerSets);
  const renderings = new Map<string, Rendering>();
  let done = 0;
  let peers = bodies.peersResolved;
  for (const member of estate.members) {
    const { workload, mode, weaker, set } = member;
    const outcome = bodies.of(rulesetsOf[set.index] ?? [], mode, outbound.of(member));
    renderings.set(workload.id, { outcome, mode, weaker });
    done += 1;
    if (done % WORKLOADS_PER_STEP === 0 || bodies.peersResolved - peers > PEERS_PER_STEP) {
      peers = bodies.peersResolved;
      yield;
    }
  }
  return { renderings, skippedRows: outbound.skipped.rows };
}

/** Renders a whole estate at once: the outcome of every workload. */
export function renderAll(
  configuration: Configuration,
  workloads: Iterable<WorkloadSpec>,
): Map<string, Outcome> {
  const { renderings } = finish(renderSteps(configuration, [...workloads]));
  return new Map(Array.from(renderings, ([id, { outcome }]) => [id, outcome] as const));
}

interface Matched {
  /** Label sets that each selector matches, by the selector's index. */
  readonly setsOf: readonly (readonly LabelSet[])[];
  /** Rulesets whose scope each label set is in, by the set's index. */
  readonly rulesetsOf: readonly (readonly RulesetPlan[])[];
}

function* matchSteps({ rulesets, selectors }: RulesPlan, estate: Estate): Steps<Matched> {
  const byScope = new Map<number, RulesetPlan[]>();
  for (const ruleset of rulesets) {
    const list = byScope.get(ruleset.scope.index);
    if (list === undefined) {
      byScope.set(ruleset.scope.index, [ruleset]);
    } else {
      list.push(ruleset);
    }
  }
  yield;
  selectors.anchor(estate.sets);
  yield;
  const setsOf: LabelSet[][] = selectors.selectors.map(() => []);
  const rulesetsOf = yield* mapSteps(estate.sets, (set) => {
    const scoped: RulesetPlan[] = [];
    for (const selector of selectors.matching(set)) {
      setsOf[selector.index]?.push(set);
      scoped.push(...(byScope.get(selector.index) ?? []));
    }
    return scoped.sort((a, b) => a.index - b.index);
  });
  return { setsOf, rulesetsOf };
}

/** Policies by class: rulesets in scope, mode and outbound routes. */
class Bodies {
  readonly #peerSets: PeerSets;
  readonly #peers = new Map<PeerSource, ResolvedPeers>();
  readonly #rules = new Map<RulePlan, ResolvedRule>();
  readonly #classes = new Map<readonly OutboundRoute[], Map<string, Outcome>>();
  peersResolved = 0;

  constructor(peerSets: PeerSets) {
    this.#peerSets = peerSets;
  }

  of(rulesets: readonly RulesetPlan[], mode: ModeName, routes: readonly OutboundRoute[]): Outcome {
    let classes = this.#classes.get(routes);
    if (classes === undefined) {
      classes = new Map();
      this.#classes.set(routes, classes);
    }
    const key = `${mode} ${rulesets.map(({ index }) => index).join(" ")}`;
    let outcome = classes.get(key);
    if (outcome === undefined) {
      outcome = this.#render(rulesets, mode, routes);
      classes.set(key, outcome);
    }
    return outcome;
  }

  #render(
    rulesets: readonly RulesetPlan[],
    mode: ModeName,
    routes: readonly OutboundRoute[],
  ): Outcome {
    const plans = rulesets.flatMap(({ rules }) => rules);
    let refused = above("rulesPerPolicy", plans.length);
    const inboundRules: ResolvedRule[] = [];
    let total = 0;
    for (const plan of refused === undefined ? plans : []) {
      const peers = this.#resolve(plan.peers);
      if ("tooMany" in peers) {
        refused = above("peersPerRule", peers.tooMany);
        break;
      }
      total += peers.cidrs.length;
      inboundRules.push(this.#rule(plan, peers.cidrs));
    }
    refused ??= above("peersPerPolicy", total);
    if (refused !== undefined) {
      return { refused };
    }
    const policy = canonical({
      $typeName: "ringwall.v1.WorkloadPolicy",
      version: 0n,
      mode: MODES[mode],
      inboundRules,
      outboundRoutes: [...routes],
    });
    refused = policySizeRefusal(policy);
    return refused === undefined ? { policy } : { refused };
  }

  #resolve(source: PeerSource): ResolvedPeers {
    let peers = this.#peers.get(source);
    if (peers === undefined) {
      peers = this.#peerSets.resolve(source);
      this.peersResolved += "cidrs" in peers ? peers.cidrs.length : peers.tooMany;
      this.#peers.set(source, peers);
    }
    return peers;
  }

  #rule(plan: RulePlan, peerCidrs: Canonical<string[]>): ResolvedRule {
    let rule = this.#rules.get(plan);
    if (rule === undefined) {
      const { id, protocol, ports } = plan;
      rule = canonicalRule({
        $typeName: "ringwall.v1.ResolvedRule",
        ruleId: id,
        peerCidrs,
        protocol,
        ports: ports.map((span): PortRange => ({ $typeName: "ringwall.v1.PortRange", ...span })),
      });
      this.#rules.set(plan, rule);
    }
    return rule;
  }
}
