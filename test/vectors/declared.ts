import {
  collectionPath,
  Content,
  IGNITION,
  isRelPath,
  jsonFormat,
  type LiveTrees,
  type Manifest,
  mintUuid,
  type Os,
  plan as planUnits,
  pull as pullLive,
  readManifest,
  render as renderTree,
  repoPath,
  type Tree,
  treeDigest,
  treeOf,
  unitKeys,
} from "@ringwall/declared";
import { bind, type Family } from "./family.ts";

type FileJson = string | { readonly base64: string };
type TreeJson = Readonly<Record<string, FileJson>>;

interface PathInput {
  readonly path: string;
}

interface Place {
  readonly gateway: string;
  readonly env: string;
  readonly os: Os;
}

const EMPTY: Tree = new Map();

function tree(json: TreeJson): Tree {
  return treeOf(Object.entries(json).map(([path, file]) => [path, content(file)]));
}

function content(file: FileJson): Content {
  return typeof file === "string"
    ? Content.ofText(file)
    : new Content(Buffer.from(file.base64, "base64"));
}

function treeJson(files: Tree): TreeJson {
  return Object.fromEntries([...files].map(([path, file]) => [path, fileJson(file)]));
}

/** Text where the bytes are UTF-8 without NUL, as the vectors write it. */
function fileJson(file: Content): FileJson {
  const text = file.text();
  return text === undefined || text.includes("\0")
    ? { base64: Buffer.from(file.bytes).toString("base64") }
    : text;
}

/** JSON is YAML, so the vectors' object is read as the file is. */
function manifestOf(json: object): Manifest {
  return readManifest(JSON.stringify(json));
}

function units({ files }: { readonly files: readonly string[] }) {
  const grouped: Record<string, string[]> = {};
  const sorted = [...treeOf(files.map((path) => [path, Content.ofText("")])).keys()];
  for (const [path, key] of unitKeys(sorted)) grouped[key] = [...(grouped[key] ?? []), path];
  return grouped;
}

function render(input: Place & { readonly manifest: object; readonly tree: TreeJson }) {
  const rendered = renderTree({
    profile: IGNITION,
    manifest: manifestOf(input.manifest),
    gateway: input.gateway,
    environment: input.env,
    os: input.os,
    tree: tree(input.tree),
  });
  const { uuidsMinted, opaque } = rendered;
  return { tree: treeJson(rendered.tree), uuidsMinted, opaque };
}

function pull(
  input: Place & {
    readonly manifest: object | null;
    readonly core: TreeJson;
    readonly mode: TreeJson;
  },
) {
  const pulled = pullLive({
    profile: IGNITION,
    gateway: input.gateway,
    environment: input.env,
    os: input.os,
    ...(input.manifest === null ? {} : { manifest: manifestOf(input.manifest) }),
    live: { core: tree(input.core), environment: tree(input.mode) },
  });
  return {
    tree: treeJson(pulled.tree),
    skipped: pulled.skipped.map(({ path, reason }) => ({ path, reason })),
    manifest: pulled.manifestIs,
  };
}

function plan(input: {
  readonly rendered: TreeJson;
  readonly core: TreeJson;
  readonly mode: TreeJson;
  readonly ledger: readonly string[] | null;
  readonly base: TreeJson | null;
}) {
  const live: LiveTrees = { core: tree(input.core), environment: tree(input.mode) };
  const base = input.base === null ? undefined : tree(input.base);
  const planned = planUnits({
    profile: IGNITION,
    desired: { core: EMPTY, environment: tree(input.rendered) },
    live,
    ...(input.ledger === null ? {} : { ledger: { files: input.ledger } }),
    ...(base === undefined
      ? {}
      : { base: new Map([...base].map(([path, file]) => [path, file.sha256])) }),
  });
  return planned.entries.map(({ key, status, liveIn, destructive }) => ({
    key,
    status,
    liveIn: liveIn.map((layer) => (layer === "core" ? "core" : "mode")),
    destructive,
  }));
}

/** `declared.*`, bound to @ringwall/declared with the ignition profile. */
export const declared: Family = {
  relPath: bind(({ path }: PathInput) => isRelPath(path)),
  collectionPath: bind(({ path }: PathInput) => collectionPath(IGNITION, path)),
  repoPath: bind(({ path }: PathInput) => repoPath(IGNITION, path)),
  units: bind(units),
  jsonFormat: bind(({ text }: { readonly text: string }) => jsonFormat(text)),
  mintUuid: bind((name: Parameters<typeof mintUuid>[1]) =>
    mintUuid(IGNITION.uuidDomain ?? "", name),
  ),
  digest: bind((input: { readonly tree: TreeJson }) => treeDigest(tree(input.tree))),
  render: bind(render),
  pull: bind(pull),
  plan: bind(plan),
};
