import { isServiceKey } from "@ringwall/endpointmeta";
import type { InventorySpec } from "../model.ts";
import { checkLabels, checkName, checkSelector } from "./grammar.ts";
import type { Note } from "./note.ts";

const WORKLOAD_ID = /^[a-z0-9_-]{1,64}$/;
const MODES: ReadonlySet<string> = new Set(["visibility", "simulation", "enforced"]);

/** True for 1 to 64 of `[a-z0-9_-]`. */
export function isWorkloadId(text: string): boolean {
  return WORKLOAD_ID.test(text);
}

/** Checks the inventory units; two units may not speak for one workload. */
export function checkInventory(units: readonly InventorySpec[], note: Note): void {
  const owners = new Map<string, string>();
  units.forEach((unit, index) => {
    const prefix = `inventory[${index}]`;
    checkUnit(unit, prefix, note);
    const { workload } = unit;
    const owner = workload === undefined ? undefined : owners.get(workload);
    if (owner !== undefined) {
      const message = `unit "${owner}" speaks for workload ${workload} already; join them`;
      note(`${prefix}.workload`, "workload-duplicate", message);
    } else if (workload !== undefined) {
      owners.set(workload, unit.name);
    }
  });
}

function checkUnit(unit: InventorySpec, prefix: string, note: Note): void {
  checkName(unit.name, `${prefix}.name`, note);
  if ((unit.workload === undefined) === (unit.selector === undefined)) {
    note(prefix, "inventory-shape", "an inventory unit has exactly one of workload and selector");
  }
  if (unit.workload !== undefined && !isWorkloadId(unit.workload)) {
    const message = `workload id "${unit.workload}" is not allowed: 1 to 64 of [a-z0-9_-]`;
    note(`${prefix}.workload`, "workload-id", message);
  }
  if (unit.selector !== undefined) {
    checkSelector(unit.selector, `${prefix}.selector`, note);
  }
  checkLabels(unit.labels ?? {}, `${prefix}.labels`, note);
  if (unit.mode !== undefined && !MODES.has(unit.mode)) {
    const message = `mode "${unit.mode}" is not known; write visibility, simulation or enforced`;
    note(`${prefix}.mode`, "mode", message);
  }
  unit.outbounds?.forEach((key, index) => {
    checkServiceKey(key, `${prefix}.outbounds[${index}]`, note);
  });
}

function checkServiceKey(key: string, path: string, note: Note): void {
  if (!isServiceKey(key)) {
    const message = `"${key}" is no service key; write <namespace>/<service>`;
    note(path, "service-key", message);
  }
}
