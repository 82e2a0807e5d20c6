import { createHash } from "node:crypto";
import type { Content } from "./content.ts";
import { sortPaths } from "./path.ts";

/** Files by path, in byte order of the paths. */
export type Tree = ReadonlyMap<string, Content>;

/** A layer of the live side. `environment` overrides `core`, unit by unit. */
export type Layer = "core" | "environment";

/** Both layers of a live side, read at one moment. */
export interface LiveTrees {
  readonly core: Tree;
  readonly environment: Tree;
}

/** A tree without files. */
export const EMPTY_TREE: Tree = new Map();

/** A tree of files in any order; of two with the same path the later one stays. */
export function treeOf(files: Iterable<readonly [string, Content]>): Tree {
  const found = new Map(files);
  return orderedTree(found);
}

/** The same files in byte order of their paths. */
export function orderedTree(files: ReadonlyMap<string, Content>): Tree {
  const ordered = new Map<string, Content>();
  for (const path of sortPaths([...files.keys()])) {
    const content = files.get(path);
    if (content !== undefined) ordered.set(path, content);
  }
  return ordered;
}

/** SHA-256 over `path NUL sha256 LF` of every file in byte order, in lower-case hex. */
export function treeDigest(tree: Tree): string {
  const digest = createHash("sha256");
  for (const [path, content] of orderedTree(tree)) digest.update(`${path}\0${content.sha256}\n`);
  return digest.digest("hex");
}
