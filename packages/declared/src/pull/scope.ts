import { ExcludedProviders, type Manifest } from "../manifest/manifest.ts";
import { isTagType, type Profile } from "../profile/profile.ts";
import { typeOf } from "../tree/mapping.ts";
import { sortPaths } from "../tree/path.ts";
import type { LiveTrees, Tree } from "../tree/tree.ts";

/** What decides which live files are looked at. */
export interface ScopeInput {
  readonly profile: Profile;
  readonly manifest: Manifest;
  /** Tag providers that the target excludes. */
  readonly excludeTagProviders?: readonly string[];
}

/** The live files that a manifest covers, and what it leaves unread. */
export interface Scoped {
  readonly live: LiveTrees;
  /** Live `module/type` and `module/type/provider` that were left unread, in byte order. */
  readonly notInScope: readonly string[];
  /** Excluded providers that are live, in byte order. */
  readonly excludedProviders: readonly string[];
}

/**
 * Leaves out types that the manifest does not name, and excluded providers. Files that belong to no
 * type, such as those the live side keeps at the root of a collection, are nobody's.
 */
export function inScope(live: LiveTrees, input: ScopeInput): Scoped {
  const { profile, manifest } = input;
  const excluded = new ExcludedProviders(profile, manifest, input.excludeTagProviders);
  const types = new Set(manifest.types);
  const unread = new Set<string>();
  const providers = new Set<string>();
  const take = (tree: Tree): Tree => {
    const kept = new Map(tree);
    for (const path of tree.keys()) {
      const type = typeOf(path);
      if (type === undefined) {
        kept.delete(path);
      } else if (excluded.hasPath(profile, path)) {
        providers.add(path.split("/", 3)[2] ?? "");
        kept.delete(path);
      } else if (!types.has(type)) {
        unread.add(type);
        kept.delete(path);
      }
    }
    return kept;
  };
  const scoped = { core: take(live.core), environment: take(live.environment) };
  return {
    live: scoped,
    notInScope: sortPaths([...unread]),
    excludedProviders: sortPaths([...providers]),
  };
}

/** Why a live type can't be declared. */
export type LeftOutReason = "denied_type" | "type_without_rule";

/** A manifest for what is live, and the types that it leaves out. */
export interface GeneratedManifest {
  readonly manifest: Manifest;
  readonly leftOut: ReadonlyMap<string, LeftOutReason>;
}

/** Makes the manifest that covers every live type and tag provider that can be declared. */
export function generateManifest(
  profile: Profile,
  live: LiveTrees,
  excludeTagProviders: readonly string[] = [],
): GeneratedManifest {
  const excluded = new ExcludedProviders(profile, undefined, excludeTagProviders);
  const types = new Set<string>();
  const providers = new Set<string>();
  const leftOut = new Map<string, LeftOutReason>();
  for (const path of [...live.core.keys(), ...live.environment.keys()]) {
    const type = typeOf(path);
    if (type === undefined || excluded.hasPath(profile, path)) continue;
    if (profile.denied.has(type)) leftOut.set(type, "denied_type");
    else if (isTagType(profile, type)) {
      types.add(type);
      const [, , provider, rest] = path.split("/", 4);
      if (provider !== undefined && rest !== undefined) providers.add(provider);
    } else if (profile.types.has(type)) types.add(type);
    else leftOut.set(type, "type_without_rule");
  }
  const manifest = {
    types: sortPaths([...types]),
    tagProviders: sortPaths([...providers]),
    excludeTagProviders: [],
    readOnlyTagProviders: [],
  };
  return { manifest, leftOut };
}
