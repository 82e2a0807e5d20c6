import { firstDifference } from "../plan/difference.ts";
import { isKeepFile } from "../render/collect.ts";
import type { Rendered } from "../render/render.ts";
import type { Content } from "../tree/content.ts";
import { keyAbove, type Unit, unitsOf } from "../tree/units.ts";

/** Live units of both layers that are still kept. */
export interface KeptUnits {
  readonly core: ReadonlyMap<string, Unit>;
  readonly environment: ReadonlyMap<string, Unit>;
}

/** Why a unit is not what rendering the pulled files gives. */
export interface Mismatch {
  readonly detail: string;
  /** What to do on the live side, where something can be done. */
  readonly fix?: string;
}

/**
 * Compares what was rendered with the effective live copy of every unit: the environment's if there
 * is one, else core's. Gives the units that differ.
 */
export function mismatches(rendered: Rendered, kept: KeptUnits): Map<string, Mismatch> {
  const found = new Map<string, Mismatch>();
  const made = unitsOf(rendered.tree);
  const effective = new Map([...kept.core, ...kept.environment]);
  for (const [key, unit] of effective) {
    const rest = made.get(key)?.files ?? new Map<string, Content>();
    const path = firstDifferent(rest, unit.files);
    if (path !== undefined) found.set(key, explain(key, path, rest, unit.files, rendered, kept));
  }
  for (const [key, unit] of made) {
    if (effective.has(key)) continue;
    for (const path of [key, ...unit.files.keys()]) {
      const owner = keyAbove(path, effective);
      if (owner !== undefined && !found.has(owner)) {
        found.set(owner, { detail: `renders the unit ${key}, which is not live` });
      }
    }
  }
  return found;
}

function firstDifferent(
  made: ReadonlyMap<string, Content>,
  live: ReadonlyMap<string, Content>,
): string | undefined {
  for (const [path, content] of live) {
    const other = made.get(path);
    if (other === undefined || !other.equals(content)) return path;
  }
  for (const path of made.keys()) if (!live.has(path)) return path;
  return undefined;
}

function explain(
  key: string,
  path: string,
  made: ReadonlyMap<string, Content>,
  live: ReadonlyMap<string, Content>,
  rendered: Rendered,
  kept: KeptUnits,
): Mismatch {
  const difference = `${path}: ${firstDifference(path, live.get(path), made.get(path))}`;
  if (rendered.uuidsMinted.includes(key) && path === `${key}/resource.json`) {
    return {
      detail: `its resource.json has no uuid, one would be minted (${difference})`,
      fix: "give the live resource.json an attributes.uuid, then pull again",
    };
  }
  if (!made.has(path) && isKeepFile(path)) {
    return {
      detail: `holds a .gitkeep, which is not rendered (${difference})`,
      fix: `delete ${path} on the live side, then pull again`,
    };
  }
  const core = kept.core.get(key);
  if (kept.environment.has(key) && core !== undefined && !live.has(path)) {
    return {
      detail: `the environment's copy lacks a file of core, and an overlay can't remove (${difference})`,
      fix: `copy ${path} into the environment's copy, or remove it from core`,
    };
  }
  return { detail: `rendering its files gives something else (${difference})` };
}
