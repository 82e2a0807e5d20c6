import { compareBytes } from "@ringwall/labels";
import { overlayWorkload } from "../../inventory/effective.ts";
import type { InventorySpec, ModeName } from "../../model.ts";
import type { LabelIndex } from "../labels/label-index.ts";

/** An inventory unit that speaks for one workload. */
export interface OwnUnit {
  /** Above 0; each edit makes a new one. */
  readonly id: number;
  readonly spec: InventorySpec;
}

interface SelectorUnit {
  readonly spec: InventorySpec;
  readonly selector: number;
}

/** What inventory units make of workloads of one kind. */
export interface Overlay {
  /** Effective labels; undefined if they are the base labels. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly mode: ModeName;
  /** True if a unit names a mode weaker than enforced. */
  readonly weaker: boolean;
  /** In byte order. */
  readonly outbounds: readonly string[];
}

/** What an overlay is computed from. */
export interface OverlayBase {
  /** Base label set: source labels overlaid by those of the own unit. */
  readonly set: number;
  readonly own: OwnUnit | undefined;
  readonly enforced: boolean;
  /** In byte order. */
  readonly outbounds: readonly string[];
}

/** Inventory units by whom they speak for, and what an edit of one touches. */
export class Inventory {
  readonly #labels: LabelIndex;
  readonly #units = new Map<string, InventorySpec>();
  /** By the workload that they speak for, in byte order of their names; nearly always one. */
  readonly #own = new Map<string, OwnUnit[]>();
  readonly #ownById = new Map<number, OwnUnit>();
  #lastOwn = 0;
  readonly #selecting = new Map<string, SelectorUnit>();
  readonly #bySelector = new Map<number, Set<SelectorUnit>>();
  /** Selector units that declare outbounds. */
  #outboundUnits = 0;
  /** Workloads whose own unit changed, until they are taken. */
  #touchedWorkloads = new Set<string>();
  /** Label sets that a changed selector unit matches, until they are taken. */
  #touchedSets = new Set<number>();

  constructor(labels: LabelIndex) {
    this.#labels = labels;
  }

  /** The own unit of a workload; of several the lowest name speaks. */
  ownOf(workload: string): OwnUnit | undefined {
    return this.#own.size === 0 ? undefined : this.#own.get(workload)?.[0];
  }

  /** The own unit with this id; undefined for 0 and for one that is gone. */
  ownUnit(id: number): OwnUnit | undefined {
    return this.#ownById.get(id);
  }

  /** Adds or replaces a unit. */
  put(spec: InventorySpec): void {
    this.remove(spec.name);
    this.#units.set(spec.name, spec);
    if (spec.workload !== undefined) {
      this.#putOwn(spec, spec.workload);
      return;
    }
    const unit = { spec, selector: this.#labels.holdSelector(spec.selector ?? {}) };
    this.#selecting.set(spec.name, unit);
    this.#outboundUnits += declaresOutbounds(spec) ? 1 : 0;
    const units = this.#bySelector.get(unit.selector);
    if (units === undefined) {
      this.#bySelector.set(unit.selector, new Set([unit]));
    } else {
      units.add(unit);
    }
    this.#touchSets(unit.selector);
  }

  /** Removes a unit; an unknown one is fine. */
  remove(name: string): void {
    const spec = this.#units.get(name);
    this.#units.delete(name);
    if (spec?.workload !== undefined) {
      this.#removeOwn(spec, spec.workload);
      return;
    }
    const unit = this.#selecting.get(name);
    if (unit !== undefined) {
      this.#selecting.delete(name);
      this.#outboundUnits -= declaresOutbounds(unit.spec) ? 1 : 0;
      const units = this.#bySelector.get(unit.selector);
      units?.delete(unit);
      if (units?.size === 0) {
        this.#bySelector.delete(unit.selector);
      }
      this.#touchSets(unit.selector);
      this.#labels.releaseSelector(unit.selector);
    }
  }

  /** Workloads and label sets that edits touched since this was asked last. */
  takeTouched(): { workloads: Iterable<string>; sets: Iterable<number> } {
    const touched = { workloads: this.#touchedWorkloads, sets: this.#touchedSets };
    this.#touchedWorkloads = new Set();
    this.#touchedSets = new Set();
    return touched;
  }

  /** Base labels of a workload: its own unit's over its source labels. */
  baseLabels(
    source: Readonly<Record<string, string>>,
    own: OwnUnit,
  ): Readonly<Record<string, string>> {
    return { ...source, ...own.spec.labels };
  }

  /** True if no unit speaks for workloads of a base label set without an own unit. */
  isSilent(set: number): boolean {
    return this.#selecting.size === 0 || this.#unitsOf(set).length === 0;
  }

  /** True if units declare outbounds for workloads of a base label set. */
  declaresOutbounds(set: number, own: OwnUnit | undefined): boolean {
    return (
      (own !== undefined && declaresOutbounds(own.spec)) ||
      (this.#outboundUnits > 0 && this.#unitsOf(set).some(declaresOutbounds))
    );
  }

  overlay({ set, own, enforced, outbounds }: OverlayBase): Overlay {
    const units = this.#unitsOf(set);
    if (own === undefined && units.length === 0) {
      const mode = enforced ? "enforced" : "visibility";
      return { labels: undefined, mode, weaker: false, outbounds };
    }
    const workload = {
      id: "",
      labels: this.#labels.labels(set),
      addresses: [],
      rows: [],
      outbounds,
      presence: "live",
      enforced,
    } as const;
    return overlayWorkload(workload, own?.spec, units);
  }

  #putOwn(spec: InventorySpec, workload: string): void {
    this.#lastOwn += 1;
    const own = { id: this.#lastOwn, spec };
    const units = [...(this.#own.get(workload) ?? []), own];
    this.#own.set(
      workload,
      units.sort((a, b) => compareBytes(a.spec.name, b.spec.name)),
    );
    this.#ownById.set(own.id, own);
    this.#touchedWorkloads.add(workload);
  }

  #removeOwn(spec: InventorySpec, workload: string): void {
    const units = this.#own.get(workload) ?? [];
    const others = units.filter((unit) => unit.spec !== spec);
    if (others.length > 0) {
      this.#own.set(workload, others);
    } else {
      this.#own.delete(workload);
    }
    for (const unit of units) {
      if (unit.spec === spec) {
        this.#ownById.delete(unit.id);
      }
    }
    this.#touchedWorkloads.add(workload);
  }

  /** Selector units that match a base label set, in byte order of their names. */
  #unitsOf(set: number): readonly InventorySpec[] {
    if (this.#selecting.size === 0) {
      return NO_UNITS;
    }
    const units: InventorySpec[] = [];
    for (let index = this.#labels.selectorCount(set) - 1; index >= 0; index--) {
      for (const { spec } of this.#bySelector.get(this.#labels.selectorAt(set, index)) ?? []) {
        units.push(spec);
      }
    }
    return units.sort((a, b) => compareBytes(a.name, b.name));
  }

  #touchSets(selector: number): void {
    for (let index = this.#labels.setCount(selector) - 1; index >= 0; index--) {
      this.#touchedSets.add(this.#labels.setAt(selector, index));
    }
  }
}

function declaresOutbounds({ outbounds = [] }: InventorySpec): boolean {
  return outbounds.length > 0;
}

const NO_UNITS: readonly InventorySpec[] = [];
