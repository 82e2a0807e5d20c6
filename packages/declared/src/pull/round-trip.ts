import { firstDifference } from "../plan/difference.ts";
import { keepsLayers, type Profile } from "../profile/profile.ts";
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
 * Compares what was rendered with what is live and gives the units that differ: with the effective
 * copy of every unit, the environment's if there is one, else core's; where both layers are written,
 * each layer with its own.
 */
export function mismatches(
  profile: Profile,
  rendered: Rendered,
  kept: KeptUnits,
): Map<string, Mismatch> {
  const found = new Map<string, Mismatch>();
  if (keepsLayers(profile)) {
    compare(unitsOf(rendered.layers.core), kept.core, rendered, kept, found);
    compare(unitsOf(rendered.layers.environment), kept.environment, rendered, kept, found);
  } else {
    const effective = new Map([...kept.core, ...kept.environment]);
    compare(unitsOf(rendered.tree), effective, rendered, kept, found);
  }
  return found;
}

function compare(
  made: ReadonlyMap<string, Unit>,
  live: ReadonlyMap<string, Unit>,
  rendered: Rendered,
  kept: KeptUnits,
  found: Map<string, Mismatch>,
): void {
  for (const [key, unit] of live) {
    const rest = made.get(key)?.files ?? NO_FILES;
    const path = firstDifferent(rest, unit.files);
    if (path === undefined || found.has(key)) continue;
    found.set(key, explain(key, path, rest, unit.files, rendered, kept));
  }
  for (const key of made.keys()) {
    if (live.has(key)) continue;
    for (const owner of ownersOf(key, live)) {
      if (found.has(owner)) continue;
      found.set(owner, { detail: `makes the unit ${key}, which is not live` });
    }
  }
}

/** The live unit in whose folder a made unit stands, else those that stand in its folder. */
function ownersOf(key: string, live: ReadonlyMap<string, Unit>): string[] {
  const above = keyAbove(key, live);
  if (above !== undefined) return [above];
  return [...live.keys()].filter((each) => each.startsWith(`${key}/`));
}

const NO_FILES: ReadonlyMap<string, Content> = new Map();

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
