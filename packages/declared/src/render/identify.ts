import type { TypeRule } from "../profile/profile.ts";
import { nameOf, typeOf } from "../tree/mapping.ts";
import { parentOf, sortPaths } from "../tree/path.ts";
import { mintUuid } from "../uuid/mint.ts";
import { synthesised, withUuid } from "../uuid/resource-json.ts";
import { ordered } from "./collect.ts";
import type { Inspection } from "./inspect.ts";
import type { RenderContext, Source, Sources } from "./source.ts";

/** The tree after ids were given. */
export interface Identified {
  readonly sources: Sources;
  /** Keys of resources that got a uuid, in byte order. */
  readonly minted: readonly string[];
}

/** Files of one resource. */
interface Resource {
  readonly key: string;
  readonly type: string;
  readonly name: string;
  readonly rule: TypeRule;
  readonly files: Source[];
}

/**
 * Holds every file against the shape of its type's class, and gives a uuid to each named resource
 * that has none: into its `resource.json`, or in one made for it.
 */
export function identify(
  sources: Sources,
  inspection: Inspection,
  context: RenderContext,
): Identified {
  const resources = resourcesOf(sources, context);
  const minted: string[] = [];
  const given = new Map<string, Source>();
  const byUuid = new Map<string, Source[]>();
  for (const resource of resources.values()) {
    const { rule, type } = resource;
    if (rule.document !== undefined) checkDocument(resource, rule.document, context);
    if (rule.class !== "named") continue;
    const own = sources.get(`${resource.key}/resource.json`);
    const known = own === undefined ? undefined : inspection.resources.get(own.path);
    if (own !== undefined && known?.uuid !== undefined) {
      const same = `${type} ${known.uuid.toLowerCase()}`;
      byUuid.set(same, [...(byUuid.get(same) ?? []), own]);
    } else {
      const file = withNewUuid(resource, own, known, context);
      if (file === undefined) continue;
      given.set(file.path, file);
      minted.push(resource.key);
    }
  }
  noteDuplicates(byUuid, context);
  if (given.size === 0) return { sources, minted };
  return { sources: ordered(new Map([...sources, ...given])), minted: sortPaths(minted) };
}

function resourcesOf(sources: Sources, context: RenderContext): ReadonlyMap<string, Resource> {
  const { profile, findings } = context;
  const resources = new Map<string, Resource>();
  for (const source of sources.values()) {
    const type = typeOf(source.path) ?? "";
    const rule = profile.types.get(type);
    if (rule === undefined) continue;
    const name = nameOf(source.path);
    if (rule.class === "singleton") {
      if (name !== undefined) {
        const message = `${type} has its files directly in its folder; move or remove this one`;
        findings.add(source.source, "shape", message);
      }
      continue;
    }
    if (name === undefined) {
      const message = `${type} has one folder per resource; move the file into one`;
      findings.add(source.source, "shape", message);
      continue;
    }
    const key = rule.document === undefined ? `${type}/${name}` : parentOf(source.path);
    const resource = resources.get(key);
    if (resource === undefined) resources.set(key, { key, type, name, rule, files: [source] });
    else resource.files.push(source);
  }
  return resources;
}

/** Gives the resource's `resource.json` with a new uuid; undefined if it can't have one. */
function withNewUuid(
  { key, type, name, files }: Resource,
  own: Source | undefined,
  known: { readonly opaque: boolean; readonly root?: Parameters<typeof withUuid>[0] } | undefined,
  context: RenderContext,
): Source | undefined {
  const { profile, gateway, findings } = context;
  const [module = "", typeName = ""] = type.split("/");
  if (profile.uuidDomain === undefined) return undefined;
  const uuid = mintUuid(profile.uuidDomain, { gateway, module, type: typeName, name });
  const path = `${key}/resource.json`;
  if (own === undefined) {
    const [first] = files;
    if (first === undefined) return undefined;
    const members = files.map((file) => file.path.slice(key.length + 1));
    const source = first.source.slice(0, first.source.length - (members[0] ?? "").length);
    return {
      source: `${source}resource.json`,
      path,
      content: synthesised(members, uuid),
      misplaced: false,
    };
  }
  if (known?.root !== undefined) return { ...own, content: withUuid(known.root, uuid) };
  if (known?.opaque === true) {
    const message =
      "has no attributes.uuid and is not in the gateway's layout, so none can be added; add one";
    findings.add(own.source, "uuid-missing-opaque", message);
  }
  return undefined;
}

function noteDuplicates(
  byUuid: ReadonlyMap<string, readonly Source[]>,
  { findings }: RenderContext,
): void {
  for (const files of byUuid.values()) {
    if (files.length < 2) continue;
    for (const file of files) {
      const others = files.filter((each) => each !== file).map((each) => parentOf(each.path));
      const message = `has the uuid of ${others.slice(0, 3).join(", ")}; give each its own`;
      findings.add(file.source, "uuid-duplicate", message);
    }
  }
}

function checkDocument(
  { key, type, files }: Resource,
  document: { readonly file: string; readonly mostComponents: number },
  { findings }: RenderContext,
): void {
  const deep = key.split("/").length - 2 > document.mostComponents;
  for (const { source, path } of files) {
    if (deep) {
      const most = document.mostComponents;
      findings.add(source, "shape", `a name of ${type} has at most ${most} components`);
    } else if (path !== `${key}/${document.file}`) {
      const message = `a unit of ${type} is a folder with exactly ${document.file}; remove this one`;
      findings.add(source, "shape", message);
    }
  }
}
