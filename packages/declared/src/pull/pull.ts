import { DeclaredError } from "../errors.ts";
import { type Finding, SECRET_CODES } from "../finding.ts";
import { LIMITS } from "../limits.ts";
import type { Os } from "../lints/names.ts";
import { MANIFEST_FILE, type Manifest, writeManifest } from "../manifest/manifest.ts";
import type { Profile } from "../profile/profile.ts";
import { type Rendered, render } from "../render/render.ts";
import { Content } from "../tree/content.ts";
import { collectionPath, repoPath } from "../tree/mapping.ts";
import { compareBytes, parentOf, sortPaths } from "../tree/path.ts";
import { type LiveTrees, orderedTree, type Tree } from "../tree/tree.ts";
import { keyAbove, type Unit, unitsOf } from "../tree/units.ts";
import { type KeptUnits, mismatches } from "./round-trip.ts";
import { generateManifest, inScope } from "./scope.ts";

/** What is live, and what decides how it is taken into a repo. */
export interface PullInput {
  readonly profile: Profile;
  readonly gateway: string;
  readonly environment: string;
  readonly os: Os;
  readonly pathBudget?: number;
  readonly excludeTagProviders?: readonly string[];
  /** Undefined: one is generated for what is live. */
  readonly manifest?: Manifest;
  /** Both layers, read at one moment. */
  readonly live: LiveTrees;
}

/** Why a unit or type was not taken. */
export type SkipReason =
  | "embedded_secret"
  | `render_refused: ${string}`
  | "not_round_trippable"
  | "denied_type"
  | "type_without_rule";

/** A unit or type that was not taken; applying never touches it. */
export interface Skipped {
  /** Unit key, or `module/type`. */
  readonly path: string;
  readonly reason: SkipReason;
  /** What exactly, in words. */
  readonly detail: string;
  /** What to do about it, where something can be done. */
  readonly fix?: string;
}

/** What a pull gives. */
export interface Pulled {
  /** Files below the gateway's folder, a generated manifest among them. */
  readonly tree: Tree;
  readonly rendered: Rendered;
  readonly manifest: Manifest;
  readonly manifestIs: "kept" | "generated";
  /** In byte order of the paths. */
  readonly skipped: readonly Skipped[];
  /** Live types that a kept manifest leaves unread, in byte order. */
  readonly notInScope: readonly string[];
  readonly excludedProviders: readonly string[];
  readonly warnings: readonly string[];
}

type Drops = Map<string, Omit<Skipped, "path">>;

/**
 * Takes what is live into a declared tree: core files into the base, environment files into the
 * overlay, bytes exactly as read. What would not come out of a render as it is live is left out,
 * round by round, until a round leaves nothing out; so rendering the result gives the effective live
 * copy of every unit that was kept. Throws DeclaredError `deploy_tree_invalid` with findings that
 * concern no unit, and `rounds` when it does not come to rest.
 */
export function pull(input: PullInput): Pulled {
  const { profile } = input;
  const generated =
    input.manifest === undefined
      ? generateManifest(profile, input.live, input.excludeTagProviders)
      : undefined;
  const manifest = input.manifest ?? generated?.manifest;
  if (manifest === undefined) throw new DeclaredError("manifest", "there is no manifest");
  const scope = inScope(input.live, { ...input, manifest });
  const skipped: Skipped[] = [...(generated?.leftOut ?? [])].map(([path, reason]) => ({
    path,
    reason,
    detail: LEFT_OUT[reason],
  }));
  const candidates: Candidates = {
    core: unitsOf(scope.live.core),
    environment: unitsOf(scope.live.environment),
  };
  const { rendered, tree } = fixpoint(input, manifest, candidates, skipped);
  const files = new Map(tree);
  if (generated !== undefined) {
    const text = writeManifest(profile, manifest.types, manifest.tagProviders);
    files.set(MANIFEST_FILE, Content.ofText(text));
  }
  return {
    tree: orderedTree(files),
    rendered,
    manifest,
    manifestIs: generated === undefined ? "kept" : "generated",
    skipped: skipped.sort((a, b) => compareBytes(a.path, b.path)),
    notInScope: generated === undefined ? scope.notInScope : [],
    excludedProviders: scope.excludedProviders,
    warnings: rendered.opaque.map(
      (path) => `${path} is not in the gateway's layout; kept as it is`,
    ),
  };
}

const LEFT_OUT = {
  denied_type: "the type is never declared",
  type_without_rule: "nothing is known about the type",
} as const;

interface Candidates extends KeptUnits {
  readonly core: Map<string, Unit>;
  readonly environment: Map<string, Unit>;
}

/** Renders, drops and renders again; leaves the kept units in `kept`, notes drops in `skipped`. */
function fixpoint(
  input: PullInput,
  manifest: Manifest,
  kept: Candidates,
  skipped: Skipped[],
): { rendered: Rendered; tree: Tree } {
  for (let round = 1; round <= LIMITS.pullRounds; round += 1) {
    const { tree, owners } = repoTree(input, kept);
    const outcome = attempt(input, manifest, tree);
    const drops =
      "findings" in outcome
        ? dropsOf(outcome.findings, owners, input.profile, kept)
        : mismatchDrops(input.profile, outcome.rendered, kept);
    if ("rendered" in outcome && drops.size === 0) return { rendered: outcome.rendered, tree };
    for (const [path, drop] of drops) {
      skipped.push({ path, ...drop });
      kept.core.delete(path);
      kept.environment.delete(path);
    }
  }
  throw new DeclaredError(
    "rounds",
    `the pull did not come to rest within ${LIMITS.pullRounds} rounds; nothing was written`,
  );
}

function attempt(
  input: PullInput,
  manifest: Manifest,
  tree: Tree,
): { readonly rendered: Rendered } | { readonly findings: readonly Finding[] } {
  try {
    return { rendered: render({ ...input, manifest, tree }) };
  } catch (error) {
    if (error instanceof DeclaredError && error.code === "deploy_tree_invalid") {
      return { findings: error.findings };
    }
    throw error;
  }
}

/** The kept files at their places in the repo, and the unit of each. */
function repoTree({ profile, environment }: PullInput, kept: KeptUnits) {
  const files = new Map<string, Content>();
  const owners = new Map<string, string>();
  const put = (unit: Unit, prefix: string) => {
    for (const [path, content] of unit.files) {
      const place = `${prefix}${repoPath(profile, path)}`;
      files.set(place, content);
      owners.set(place, unit.key);
    }
  };
  for (const unit of kept.core.values()) put(unit, "");
  for (const unit of kept.environment.values()) put(unit, `modes/${environment}/`);
  return { tree: orderedTree(files), owners };
}

/**
 * The unit to drop for each finding that concerns one: the unit that owns the file, else the one in
 * whose folder it would stand. Throws when no finding concerns a unit.
 */
function dropsOf(
  findings: readonly Finding[],
  owners: ReadonlyMap<string, string>,
  profile: Profile,
  kept: KeptUnits,
): Drops {
  const drops: Drops = new Map();
  for (const finding of findings) {
    const key = owners.get(finding.path) ?? unitAbove(finding.path, profile, kept);
    if (key === undefined) continue;
    const isSecret = SECRET_CODES.has(finding.code);
    const known = drops.get(key);
    if (known !== undefined && (!isSecret || known.reason === "embedded_secret")) continue;
    drops.set(key, {
      reason: isSecret ? "embedded_secret" : `render_refused: ${finding.code}`,
      detail: `${finding.path}: ${finding.message}`,
    });
  }
  if (drops.size === 0) {
    const message = "what is live can't be declared, and no single unit is to blame";
    throw new DeclaredError("deploy_tree_invalid", message, findings);
  }
  return drops;
}

/** The unit in whose folder a file stands that rendering made. */
function unitAbove(path: string, profile: Profile, kept: KeptUnits): string | undefined {
  const place = collectionPath(profile, path) ?? "";
  const keys = [keyAbove(place, kept.core), keyAbove(place, kept.environment)];
  const [longest = ""] = keys.map((key) => key ?? "").sort((a, b) => b.length - a.length);
  if (longest !== "") return longest;
  const folder = `${parentOf(place)}/`;
  return [...kept.core.keys(), ...kept.environment.keys()].find((key) => key.startsWith(folder));
}

function mismatchDrops(profile: Profile, rendered: Rendered, kept: KeptUnits): Drops {
  const found = mismatches(profile, rendered, kept);
  const drops: Drops = new Map();
  for (const key of sortPaths([...found.keys()])) {
    const mismatch = found.get(key);
    if (mismatch !== undefined) drops.set(key, { reason: "not_round_trippable", ...mismatch });
  }
  return drops;
}
