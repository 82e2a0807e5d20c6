import { readJsonFile } from "../json/json-format.ts";
import { type JsonValue, member, stringOf } from "../json/json-value.ts";
import { type SecretPlace, scanSecrets } from "../lints/secrets.ts";
import { typeOf } from "../tree/mapping.ts";
import { lastOf, parentOf } from "../tree/path.ts";
import type { RenderContext, Source, Sources } from "./source.ts";

/** What the later stages need to know of a `resource.json`. */
export interface ResourceFile {
  readonly opaque: boolean;
  /** `attributes.uuid`; absent if there is none. */
  readonly uuid?: string;
  /** The document, kept only where a uuid may have to be added. */
  readonly root?: JsonValue;
}

/** What reading every JSON file once gave. */
export interface Inspection {
  /** Paths in the collection of files that pass untouched, in byte order. */
  readonly opaque: readonly string[];
  /** By path in the collection. */
  readonly resources: ReadonlyMap<string, ResourceFile>;
}

const RESOURCE_FILE = "resource.json";
const MARKER_FILE = "unary-resource.json";

/** Reads every JSON file: notes invalid ones, secrets, and markers that name other members. */
export function inspect(sources: Sources, context: RenderContext): Inspection {
  const opaque: string[] = [];
  const resources = new Map<string, ResourceFile>();
  let members: ReadonlyMap<string, readonly string[]> | undefined;
  for (const source of sources.values()) {
    if (!source.path.endsWith(".json")) continue;
    const read = readJsonFile(source.content);
    if (typeof read === "string") {
      context.findings.add(source.source, "json-invalid", `no valid JSON: ${read}`);
      continue;
    }
    if (read.format === "opaque") opaque.push(source.path);
    noteSecrets(source, read.value, context);
    const name = lastOf(source.path);
    if (name === RESOURCE_FILE) {
      resources.set(source.path, resourceFile(source, read.value, read.format, context));
    } else if (name === MARKER_FILE && isTagPath(source.path, context)) {
      members ??= membersByFolder(sources);
      checkMarker(source, read.value, members.get(parentOf(source.path)) ?? [], context);
    }
  }
  return { opaque, resources };
}

/** Looks for secrets in files that an overlay replaces: their bytes stand in the repo all the same. */
export function inspectReplaced(base: Sources, merged: Sources, context: RenderContext): void {
  for (const [path, source] of base) {
    if (merged.get(path) === source || !path.endsWith(".json")) continue;
    const read = readJsonFile(source.content);
    if (typeof read !== "string") noteSecrets(source, read.value, context);
  }
}

function noteSecrets(source: Source, root: JsonValue, context: RenderContext): void {
  const rule = context.profile.types.get(typeOf(source.path) ?? "");
  const places = scanSecrets(root, lastOf(source.path), rule?.secretPaths ?? []);
  for (const kind of ["embedded", "plaintext"] as const) {
    const found = places.filter((place) => place.kind === kind);
    if (found.length === 0) continue;
    const message = `${secretText(found)}; put a reference to a secret there`;
    context.findings.add(source.source, `secret-${kind}`, message);
  }
}

const PLACES_SHOWN = 5;

function secretText(places: readonly SecretPlace[]): string {
  const shown = places.slice(0, PLACES_SHOWN).map(({ path, kind }) => `${path} (${kind})`);
  const rest = places.length - shown.length;
  return `a secret at ${shown.join(", ")}${rest > 0 ? ` and ${rest} more places` : ""}`;
}

function resourceFile(
  { source, path }: Source,
  root: JsonValue,
  format: "gateway" | "opaque",
  { profile, findings }: RenderContext,
): ResourceFile {
  const attributes = member(root, "attributes");
  const value = member(attributes, "uuid");
  const uuid = stringOf(value);
  const named = profile.types.get(typeOf(path) ?? "")?.class === "named";
  const wrong =
    root.kind !== "object" ||
    (attributes !== undefined && attributes.kind !== "object") ||
    (value !== undefined && (uuid ?? "") === "");
  if (named && wrong) {
    const message = "must be an object; attributes an object in it, and its uuid a text";
    findings.add(source, "shape", message);
  }
  const opaque = format === "opaque";
  if (uuid !== undefined) return { opaque, uuid };
  return named && !opaque && !wrong ? { opaque, root } : { opaque };
}

function isTagPath(path: string, { profile }: RenderContext): boolean {
  const [module, type] = path.split("/", 2);
  return module === profile.tagModule && profile.tagTypes.includes(type ?? "");
}

/** Names of the files that stand directly in each folder, markers left out. */
function membersByFolder(sources: Sources): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, string[]>();
  for (const path of sources.keys()) {
    const name = lastOf(path);
    if (name === MARKER_FILE) continue;
    const folder = parentOf(path);
    const names = folders.get(folder);
    if (names === undefined) folders.set(folder, [name]);
    else names.push(name);
  }
  return folders;
}

function checkMarker(
  { source }: Source,
  root: JsonValue,
  present: readonly string[],
  { findings }: RenderContext,
): void {
  const files = member(root, "files");
  const listed = files?.kind === "array" ? files.elements.map(stringOf) : [undefined];
  if (listed.includes(undefined)) {
    findings.add(source, "marker-files", "files must be a list of the members' names");
    return;
  }
  const names = new Set(listed);
  const missing = [...names].filter((name) => name !== undefined && !present.includes(name));
  const unlisted = present.filter((name) => !names.has(name));
  if (missing.length + unlisted.length === 0) return;
  const parts = [
    ...missing.map((name) => `lists "${name}", which is not there`),
    ...unlisted.map((name) => `does not list "${name}", which is there`),
  ];
  findings.add(source, "marker-files", `files ${parts.join(" and ")}`);
}
