import { type Finding, sortFindings } from "../finding.ts";
import { estateSteps } from "../full/estate.ts";
import { type LabelSet, LabelSets } from "../full/label-sets.ts";
import { SelectorIndex } from "../full/selector-index.ts";
import { finish } from "../full/steps.ts";
import { baseLabels, indexInventory } from "../inventory/effective.ts";
import type { Configuration, SelectorSpec, WorkloadSpec } from "../model.ts";

interface Place {
  readonly path: string;
  readonly spec: SelectorSpec;
}

/**
 * Warnings for selectors that no workload satisfies now: most often a typing error. Scopes and peers
 * are held against effective labels, inventory units against source labels and own units. Paths begin
 * with the list, as with `admit(…, { fullPaths: true })`.
 */
export function findUnmatchedSelectors(
  configuration: Configuration,
  workloads: readonly WorkloadSpec[],
): Finding[] {
  const estate = finish(estateSteps(configuration, workloads));
  const inventory = indexInventory(configuration);
  const base = new LabelSets();
  for (const workload of workloads) {
    base.intern(baseLabels(workload, inventory.own.get(workload.id)));
  }
  return sortFindings([
    ...unmatched(rulePlaces(configuration), estate.sets),
    ...unmatched(unitPlaces(configuration), base.sets),
  ]);
}

function unmatched(places: readonly Place[], sets: readonly LabelSet[]): Finding[] {
  const index = new SelectorIndex();
  const interned = places.map(({ path, spec }) => ({ path, selector: index.intern(spec) }));
  index.anchor(sets);
  const used = new Set(sets.flatMap((set) => index.matching(set)));
  return interned
    .filter(({ selector }) => !used.has(selector) && Object.keys(selector.spec).length > 0)
    .map(({ path }) => ({
      path,
      rule: "selector-unmatched",
      message: "no workload has these labels now",
      warning: true,
    }));
}

function rulePlaces({ rulesets }: Configuration): Place[] {
  return rulesets.flatMap((ruleset, at) => [
    { path: `rulesets[${at}].scope`, spec: ruleset.scope },
    ...ruleset.rules.flatMap((rule, position) =>
      rule.peers.flatMap(({ workloads }, peer) => {
        const path = `rulesets[${at}].rules[${position}].peers[${peer}].workloads`;
        return workloads === undefined ? [] : [{ path, spec: workloads }];
      }),
    ),
  ]);
}

function unitPlaces({ inventory }: Configuration): Place[] {
  return inventory.flatMap(({ selector }, at) =>
    selector === undefined ? [] : [{ path: `inventory[${at}].selector`, spec: selector }],
  );
}
