import type { Configuration, InventorySpec, ModeName } from "@ringwall/render";
import { type Document, isMap, parseDocument } from "yaml";
import type { Put } from "../live/commit.ts";
import type { LiveFile, LiveTree } from "../live/tree.ts";
import type { LayerName } from "./find-files.ts";

/** What to set or take back in a workload's own inventory unit. */
export interface UnitEdit {
  readonly labels?: Readonly<Record<string, string>>;
  readonly removeLabels?: readonly string[];
  readonly mode?: ModeName;
}

/** The copy of a workload's own unit that is in force, or the one that would be created. */
export interface OwnUnit {
  readonly name: string;
  readonly layer: LayerName;
  readonly path: string;
  /** Its file in the live tree; undefined if it is to be created. */
  readonly file: LiveFile | undefined;
  readonly spec: InventorySpec | undefined;
}

/** Path of an inventory unit in a layer. */
export function inventoryPath(name: string): string {
  return `policy/inventory/${name}/inventory.yaml`;
}

/** The file that is in force for a path: the environment's copy when present, else core's. */
export function effectiveFile(tree: LiveTree, path: string): LiveFile | undefined {
  const copies = tree.files.filter((file) => file.path === path);
  return copies.find((file) => file.layer === "environment") ?? copies[0];
}

/**
 * Finds the unit that speaks for one workload. A new one goes into the environment's layer, because
 * a workload belongs to one environment, and is called as the workload.
 */
export function ownUnit(tree: LiveTree, configuration: Configuration, workload: string): OwnUnit {
  const spec = configuration.inventory.find((unit) => unit.workload === workload);
  const taken = new Set(configuration.inventory.map((unit) => unit.name));
  const free = taken.has(workload) ? `workload-${workload}` : workload;
  const name = spec?.name ?? free;
  const path = inventoryPath(name);
  const file = spec === undefined ? undefined : effectiveFile(tree, path);
  return { name, layer: file?.layer ?? "environment", path, file, spec };
}

/** Text of a unit after an edit; comments and order of the given text stay. */
export function editUnit(text: string, edit: UnitEdit): string {
  const document = parseDocument(text);
  for (const key of edit.removeLabels ?? []) document.deleteIn(["labels", key]);
  for (const [key, value] of Object.entries(edit.labels ?? {})) {
    if (!isMap(document.get("labels"))) document.set("labels", document.createNode({}));
    document.setIn(["labels", key], value);
  }
  if (edit.mode !== undefined) document.set("mode", edit.mode);
  dropEmptyLabels(document);
  return document.toString({ lineWidth: 0 });
}

function dropEmptyLabels(document: Document): void {
  const labels = document.get("labels");
  if (isMap(labels) && labels.items.length === 0) document.delete("labels");
}

/** Text of a new unit. */
export function newUnit(name: string, workload: string): string {
  return `kind: Inventory\nname: ${name}\nworkload: ${workload}\n`;
}

/** The put that carries a unit's new text. */
export function unitPut(unit: OwnUnit, text: string): Put {
  return { layer: unit.layer, path: unit.path, bytes: Buffer.from(text) };
}
