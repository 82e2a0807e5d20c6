import { compareBytes, matches } from "@ringwall/labels";
import type { Configuration, InventorySpec, ModeName, WorkloadSpec } from "../model.ts";

/** Where a label, a mode or an outbound comes from. */
export type Origin =
  | { readonly kind: "registry" }
  | { readonly kind: "inventory"; readonly unit: string }
  /** No unit sets a mode: enforced stays enforced, everybody else begins with visibility. */
  | { readonly kind: "default" };

/** A workload as rules see it. */
export interface EffectiveWorkload {
  readonly workload: WorkloadSpec;
  /** Source labels, overlaid by inventory units; keys in byte order. */
  readonly labels: Readonly<Record<string, string>>;
  /** Where each of those labels comes from. */
  readonly labelOrigins: Readonly<Record<string, Origin>>;
  readonly mode: ModeName;
  readonly modeOrigin: Origin;
  /** True if a unit names a mode that is weaker than enforced: the only thing that takes it back. */
  readonly weaker: boolean;
  /** Declared outbound services in byte order. */
  readonly outbounds: readonly string[];
}

const STRICTNESS: Readonly<Record<ModeName, number>> = {
  visibility: 0,
  simulation: 1,
  enforced: 2,
};

/** Inventory units ready for lookup: build it once for many workloads. */
export interface InventoryIndex {
  readonly own: ReadonlyMap<string, InventorySpec>;
  /** Selector units in byte order of their names. */
  readonly selecting: readonly InventorySpec[];
}

/** Sorts inventory units; of two units for one workload the lowest name speaks. */
export function indexInventory(configuration: Configuration): InventoryIndex {
  const sorted = [...configuration.inventory].sort((a, b) => compareBytes(a.name, b.name));
  const own = new Map<string, InventorySpec>();
  for (const unit of sorted) {
    if (unit.workload !== undefined && !own.has(unit.workload)) {
      own.set(unit.workload, unit);
    }
  }
  return { own, selecting: sorted.filter((unit) => unit.workload === undefined) };
}

/**
 * Overlays one workload. Selector units match its source labels overlaid by its own unit, so what one
 * selector unit sets never makes another match. The own unit wins; among selector units the lowest
 * name per label and the strictest mode.
 */
export function effectiveWorkload(
  index: InventoryIndex,
  workload: WorkloadSpec,
): EffectiveWorkload {
  const own = index.own.get(workload.id);
  const base = baseLabels(workload, own);
  const units = index.selecting.filter((unit) => matches(unit.selector, base));
  return overlayWorkload(workload, own, units);
}

/** Labels that selector units are matched against. */
export function baseLabels(
  workload: WorkloadSpec,
  own: InventorySpec | undefined,
): Readonly<Record<string, string>> {
  return own?.labels === undefined ? workload.labels : { ...workload.labels, ...own.labels };
}

/** Overlays a workload with its own unit and the selector units that match, in byte order. */
export function overlayWorkload(
  workload: WorkloadSpec,
  own: InventorySpec | undefined,
  units: readonly InventorySpec[],
): EffectiveWorkload {
  const labels = new Map<string, { value: string; origin: Origin }>();
  const overlay = (set: Readonly<Record<string, string>> | undefined, origin: Origin) => {
    for (const [key, value] of Object.entries(set ?? {})) {
      labels.set(key, { value, origin });
    }
  };
  overlay(workload.labels, { kind: "registry" });
  for (const unit of units.toReversed()) {
    overlay(unit.labels, { kind: "inventory", unit: unit.name });
  }
  if (own !== undefined) {
    overlay(own.labels, { kind: "inventory", unit: own.name });
  }
  const sorted = [...labels].sort(([a], [b]) => compareBytes(a, b));
  const speaking = own === undefined ? units : [own, ...units];
  return {
    workload,
    labels: Object.fromEntries(sorted.map(([key, { value }]) => [key, value])),
    labelOrigins: Object.fromEntries(sorted.map(([key, { origin }]) => [key, origin])),
    ...effectiveMode(workload, own, units),
    outbounds: joined([workload.outbounds, ...speaking.map((unit) => unit.outbounds ?? [])]),
  };
}

/** Overlays every workload, in their order. */
export function effectiveWorkloads(
  configuration: Configuration,
  workloads: Iterable<WorkloadSpec>,
): EffectiveWorkload[] {
  const index = indexInventory(configuration);
  return Array.from(workloads, (workload) => effectiveWorkload(index, workload));
}

function effectiveMode(
  workload: WorkloadSpec,
  own: InventorySpec | undefined,
  units: readonly InventorySpec[],
): Pick<EffectiveWorkload, "mode" | "modeOrigin" | "weaker"> {
  const speaking = own?.mode === undefined ? units : [own];
  let mode: ModeName | undefined;
  let modeOrigin: Origin = { kind: "default" };
  for (const unit of speaking) {
    if (
      unit.mode !== undefined &&
      (mode === undefined || STRICTNESS[unit.mode] > STRICTNESS[mode])
    ) {
      mode = unit.mode;
      modeOrigin = { kind: "inventory", unit: unit.name };
    }
  }
  if (mode === undefined) {
    return { mode: workload.enforced ? "enforced" : "visibility", modeOrigin, weaker: false };
  }
  return { mode, modeOrigin, weaker: mode !== "enforced" };
}

function joined(lists: readonly (readonly string[])[]): readonly string[] {
  const filled = lists.filter((list) => list.length > 0);
  return filled.length === 0 ? NOTHING : [...new Set(filled.flat())].sort(compareBytes);
}

const NOTHING: readonly string[] = [];
