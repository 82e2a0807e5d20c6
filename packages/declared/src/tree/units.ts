import type { Content } from "./content.ts";
import { compareBytes, lastOf, parentOf, sortPaths } from "./path.ts";
import type { Tree } from "./tree.ts";

const MARKERS: ReadonlySet<string> = new Set(["resource.json", "unary-resource.json"]);

/** A unit: the files of one folder that are applied, planned and pulled together. */
export interface Unit {
  /** Path of the folder. */
  readonly key: string;
  /** Its files, in byte order of their paths. */
  readonly files: ReadonlyMap<string, Content>;
}

/**
 * Key of the unit of every file of one layer: the nearest folder above it that holds a
 * `resource.json` or `unary-resource.json`, else its parent.
 */
export function unitKeys(paths: Iterable<string>): Map<string, string> {
  const all = [...paths];
  const marked = new Set(all.filter((path) => MARKERS.has(lastOf(path))).map(parentOf));
  const byFolder = new Map<string, string>();
  const keyOf = (folder: string): string => {
    const known = byFolder.get(folder);
    if (known !== undefined) return known;
    let above = folder;
    while (above !== "" && !marked.has(above)) above = parentOf(above);
    const key = above === "" ? folder : above;
    byFolder.set(folder, key);
    return key;
  };
  return new Map(all.map((path) => [path, keyOf(parentOf(path))]));
}

/** Groups the files of one layer into units, keys and files in byte order. */
export function unitsOf(tree: Tree): Map<string, Unit> {
  const files = new Map<string, Map<string, Content>>();
  for (const [path, key] of unitKeys(tree.keys())) {
    const content = tree.get(path);
    if (content === undefined) continue;
    const unit = files.get(key);
    if (unit === undefined) files.set(key, new Map([[path, content]]));
    else unit.set(path, content);
  }
  const units = new Map<string, Unit>();
  for (const key of sortPaths([...files.keys()])) {
    units.set(key, { key, files: files.get(key) ?? new Map() });
  }
  return units;
}

/** The longest of the given keys that is the path itself or a folder above it. */
export function keyAbove(path: string, keys: { has(key: string): boolean }): string | undefined {
  for (let above = path; above !== ""; above = parentOf(above)) {
    if (keys.has(above)) return above;
  }
  return undefined;
}

/** Compares units by key in byte order. */
export function compareUnits(a: Unit, b: Unit): number {
  return compareBytes(a.key, b.key);
}
