import {
  baseLabels,
  type InventoryIndex,
  indexInventory,
  overlayWorkload,
} from "../inventory/effective.ts";
import type { Configuration, InventorySpec, ModeName, WorkloadSpec } from "../model.ts";
import { type LabelSet, LabelSets } from "./label-sets.ts";
import { SelectorIndex } from "./selector-index.ts";
import { mapSteps, type Steps } from "./steps.ts";

/** A workload with its effective labels interned. */
export interface Member {
  readonly workload: WorkloadSpec;
  readonly set: LabelSet;
  readonly mode: ModeName;
  /** True if a unit names a mode weaker than enforced. */
  readonly weaker: boolean;
  readonly outbounds: readonly string[];
}

/** Every workload of an estate, grouped by label set. */
export interface Estate {
  readonly members: readonly Member[];
  readonly sets: readonly LabelSet[];
  /** Members of each label set, by the set's index. */
  readonly holders: readonly (readonly Member[])[];
}

/** Overlays and interns an estate; selector units are evaluated once per label set. */
export function* estateSteps(
  configuration: Configuration,
  workloads: readonly WorkloadSpec[],
): Steps<Estate> {
  const inventory = indexInventory(configuration);
  const unitsOf = yield* selectingUnits(inventory, workloads);
  const sets = new LabelSets();
  const holders: Member[][] = [];
  const members = yield* mapSteps(workloads, (workload) => {
    const member = makeMember(workload, inventory.own.get(workload.id), unitsOf(workload), sets);
    const list = holders[member.set.index];
    if (list === undefined) {
      holders[member.set.index] = [member];
    } else {
      list.push(member);
    }
    return member;
  });
  return { members, sets: sets.sets, holders };
}

function makeMember(
  workload: WorkloadSpec,
  own: InventorySpec | undefined,
  units: readonly InventorySpec[],
  sets: LabelSets,
): Member {
  if (own === undefined && units.length === 0) {
    const mode = workload.enforced ? "enforced" : "visibility";
    const { labels, outbounds } = workload;
    return { workload, set: sets.intern(labels), mode, weaker: false, outbounds };
  }
  const { labels, mode, weaker, outbounds } = overlayWorkload(workload, own, units);
  return { workload, set: sets.intern(labels), mode, weaker, outbounds };
}

const NO_UNITS: readonly InventorySpec[] = [];

function* selectingUnits(
  inventory: InventoryIndex,
  workloads: readonly WorkloadSpec[],
): Steps<(workload: WorkloadSpec) => readonly InventorySpec[]> {
  if (inventory.selecting.length === 0) {
    return () => NO_UNITS;
  }
  const sets = new LabelSets();
  const baseOf = (workload: WorkloadSpec) =>
    sets.intern(baseLabels(workload, inventory.own.get(workload.id)));
  yield* mapSteps(workloads, baseOf);
  const index = new SelectorIndex();
  const unitsBySelector = new Map<number, number[]>();
  inventory.selecting.forEach((unit, position) => {
    const { index: at } = index.intern(unit.selector ?? {});
    unitsBySelector.set(at, [...(unitsBySelector.get(at) ?? []), position]);
  });
  index.anchor(sets.sets);
  const unitsBySet = yield* mapSteps(sets.sets, (set) =>
    index
      .matching(set)
      .flatMap((selector) => unitsBySelector.get(selector.index) ?? [])
      .sort((a, b) => a - b)
      .flatMap((position) => inventory.selecting[position] ?? []),
  );
  return (workload) => unitsBySet[baseOf(workload).index] ?? NO_UNITS;
}
