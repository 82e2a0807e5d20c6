import { DeclaredError } from "../errors.ts";
import { Findings } from "../finding.ts";
import { defaultPathBudget, lintWindowsNames, type Os } from "../lints/names.ts";
import { hasCarriageReturn } from "../lints/text.ts";
import { ExcludedProviders, type Manifest } from "../manifest/manifest.ts";
import { keepsLayers, type Profile } from "../profile/profile.ts";
import { sortPaths } from "../tree/path.ts";
import { orderedTree, type Tree, treeDigest, treeOf } from "../tree/tree.ts";
import { collect, overlaid } from "./collect.ts";
import { identify } from "./identify.ts";
import { inspect, inspectReplaced } from "./inspect.ts";
import { checkManifest, checkPolicy } from "./policy.ts";
import type { RenderContext, Sources } from "./source.ts";

/** A declared tree and what decides how it is rendered. */
export interface RenderInput {
  readonly profile: Profile;
  readonly manifest: Manifest;
  readonly gateway: string;
  readonly environment: string;
  readonly os: Os;
  /** Most UTF-16 units of a path in a collection; default: what the gateway's folder leaves. */
  readonly pathBudget?: number;
  /** Tag providers that the target excludes. */
  readonly excludeTagProviders?: readonly string[];
  /** Files below `gateways/<gateway>/`. */
  readonly tree: Tree;
}

/** What the live side has to hold. */
export interface Rendered {
  /** The effective view: base with overlay, by path in the collection. */
  readonly tree: Tree;
  /** Base and overlay apart, where the live side keeps both; else all in the environment's. */
  readonly layers: { readonly core: Tree; readonly environment: Tree };
  /** Keys of resources that got a uuid, in byte order. */
  readonly uuidsMinted: readonly string[];
  /** JSON files that are not in the gateway's layout and pass untouched, in byte order. */
  readonly opaque: readonly string[];
  /** Path below the gateway's folder of every rendered file: `<layer>/<path>` to source. */
  readonly sources: ReadonlyMap<string, string>;
  /** Digest of what is written: of the effective view, or of both layers as `<layer>/<path>`. */
  readonly renderSha256: string;
}

/** One view of the tree, judged on its own. */
interface View {
  readonly sources: Sources;
  readonly minted: readonly string[];
  readonly opaque: readonly string[];
}

/**
 * Renders a declared tree. Throws DeclaredError `deploy_tree_invalid` with every finding; when two
 * sources collide, without those of later stages, because nothing further can be said then.
 */
export function render(input: RenderInput): Rendered {
  const context = contextOf(input);
  const collected = collect(input.tree, context);
  if (collected.collides) failIfAny(context);
  checkManifest(context);
  const rendered = keepsLayers(input.profile)
    ? renderLayers(judge(collected.base, context), judge(collected.overlay, context))
    : renderMerged(collected, context);
  failIfAny(context);
  return rendered;
}

function contextOf(input: RenderInput): RenderContext {
  const { profile, manifest, gateway, environment, os } = input;
  return {
    profile,
    manifest,
    gateway,
    environment,
    os,
    pathBudget: input.pathBudget ?? defaultPathBudget(profile.windowsFolder, environment),
    excluded: new ExcludedProviders(profile, manifest, input.excludeTagProviders),
    findings: new Findings(),
  };
}

function failIfAny({ findings }: RenderContext): void {
  if (findings.isEmpty) return;
  const all = findings.sorted();
  const files = new Set(all.map(({ path }) => path)).size;
  const message = `the tree can't be rendered: ${all.length} findings in ${files} files`;
  throw new DeclaredError("deploy_tree_invalid", message, all);
}

function judge(sources: Sources, context: RenderContext): View {
  checkPolicy(sources, context);
  const inspection = inspect(sources, context);
  const identified = identify(sources, inspection, context);
  const files = [...identified.sources.values()];
  if (context.os === "windows") lintWindowsNames(files, context.pathBudget, context.findings);
  for (const { source, content } of files) {
    if (hasCarriageReturn(content)) {
      const message = "a text file holds a carriage return; write line feeds only";
      context.findings.add(source, "carriage-return", message);
    }
  }
  return { sources: identified.sources, minted: identified.minted, opaque: inspection.opaque };
}

function renderMerged(
  collected: { readonly base: Sources; readonly overlay: Sources },
  context: RenderContext,
): Rendered {
  const merged = overlaid(collected);
  inspectReplaced(collected.base, merged, context);
  const view = judge(merged, context);
  const tree = treeOfView(view);
  return {
    tree,
    layers: { core: new Map(), environment: tree },
    uuidsMinted: view.minted,
    opaque: view.opaque,
    sources: sourcesOf("environment", view),
    renderSha256: treeDigest(tree),
  };
}

function renderLayers(base: View, overlay: View): Rendered {
  const core = treeOfView(base);
  const environment = treeOfView(overlay);
  return {
    tree: environment.size === 0 ? core : orderedTree(new Map([...core, ...environment])),
    layers: { core, environment },
    uuidsMinted: sortPaths([...base.minted, ...overlay.minted]),
    opaque: sortPaths([...new Set([...base.opaque, ...overlay.opaque])]),
    sources: new Map([...sourcesOf("core", base), ...sourcesOf("environment", overlay)]),
    renderSha256: treeDigest(layeredTree({ core, environment })),
  };
}

/** Both layers in one tree, by `<layer>/<path>`. */
export function layeredTree({ core, environment }: Rendered["layers"]): Tree {
  return treeOf([
    ...[...core].map(([path, content]) => [`core/${path}`, content] as const),
    ...[...environment].map(([path, content]) => [`environment/${path}`, content] as const),
  ]);
}

function treeOfView({ sources }: View): Tree {
  return new Map([...sources].map(([path, { content }]) => [path, content]));
}

function sourcesOf(layer: string, { sources }: View): Map<string, string> {
  return new Map([...sources].map(([path, { source }]) => [`${layer}/${path}`, source]));
}
