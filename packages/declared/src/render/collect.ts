import { MANIFEST_FILE } from "../manifest/manifest.ts";
import { placeOf } from "../tree/mapping.ts";
import { lastOf, relPathProblem, sortPaths } from "../tree/path.ts";
import type { Tree } from "../tree/tree.ts";
import type { RenderContext, Source, Sources } from "./source.ts";

/** Both layers of a declared tree, by path in the collection. */
export interface Collected {
  readonly base: Sources;
  readonly overlay: Sources;
  /** True if two sources of one layer map to one path. */
  readonly collides: boolean;
}

const KEEP_FILE = ".gitkeep";

/** True for a file that only keeps a folder in Git: it is nobody's finding and is not rendered. */
export function isKeepFile(path: string): boolean {
  return lastOf(path) === KEEP_FILE && !path.split("/").slice(0, -1).some(isDotName);
}

/** True for a component that begins with a dot. */
export function isDotName(part: string): boolean {
  return part.startsWith(".");
}

/**
 * Sorts the files of a gateway's folder into base and overlay and maps them. Other environments'
 * overlays are not looked at. Notes paths that fit no pattern, and sources of one layer that map to
 * one path.
 */
export function collect(tree: Tree, context: RenderContext): Collected {
  const { environment, findings } = context;
  const base = new Map<string, Source>();
  const overlay = new Map<string, Source>();
  let collides = false;
  for (const [source, content] of tree) {
    const problem = relPathProblem(source);
    if (problem !== undefined) {
      findings.add(source, "bad-path", `${problem}; rename it`);
      continue;
    }
    if (source === MANIFEST_FILE || isForeign(source, environment) || isKeepFile(source)) continue;
    const place = placeOf(context.profile, source);
    if (place === undefined) {
      findings.add(source, "bad-path", patternText(context));
      continue;
    }
    const layer = place.environment === undefined ? base : overlay;
    const file = { source, path: place.path, content, misplaced: place.misplaced };
    const other = layer.get(place.path);
    if (other === undefined) layer.set(place.path, file);
    else {
      collides = true;
      noteCollision(other, file, context);
    }
  }
  return { base: ordered(base), overlay: ordered(overlay), collides };
}

function isForeign(source: string, environment: string): boolean {
  return source.startsWith("modes/") && !source.startsWith(`modes/${environment}/`);
}

function patternText({ profile }: RenderContext): string {
  const tags = profile.tagTypes.length === 0 ? "" : " or tags/<provider>/<tag type>/…";
  return `the path fits no pattern; write resources/<module>/<type>/…${tags}`;
}

function noteCollision(first: Source, second: Source, { findings }: RenderContext): void {
  for (const [file, other] of [
    [first, second],
    [second, first],
  ] as const) {
    const message = `maps to ${file.path}, as ${other.source} does; keep one`;
    findings.add(file.source, "collision", message);
  }
}

/** The sources in byte order of their paths. */
export function ordered(sources: ReadonlyMap<string, Source>): Map<string, Source> {
  const sorted = new Map<string, Source>();
  for (const path of sortPaths([...sources.keys()])) {
    const source = sources.get(path);
    if (source !== undefined) sorted.set(path, source);
  }
  return sorted;
}

/** The overlay over the base: it replaces a file whole or adds one. */
export function overlaid({ base, overlay }: Omit<Collected, "collides">): Sources {
  return overlay.size === 0 ? base : ordered(new Map([...base, ...overlay]));
}
