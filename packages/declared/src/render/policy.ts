import { MANIFEST_FILE } from "../manifest/manifest.ts";
import { isTagType } from "../profile/profile.ts";
import { typeOf } from "../tree/mapping.ts";
import { lastOf } from "../tree/path.ts";
import { isDotName } from "./collect.ts";
import type { RenderContext, Source, Sources } from "./source.ts";

/** Notes what may not be declared: types, names and tag providers. */
export function checkPolicy(sources: Sources, context: RenderContext): void {
  const allowed = new Set(context.manifest.types);
  for (const source of sources.values()) {
    if (!checkType(source, allowed, context)) continue;
    checkNames(source, context);
    checkTags(source, context);
  }
}

/** Notes providers that the manifest declares although they are excluded. */
export function checkManifest(context: RenderContext): void {
  const { manifest, excluded, findings, profile } = context;
  for (const provider of manifest.tagProviders) {
    if (excluded.has(provider)) {
      const message = `tag_providers names "${provider}", which is excluded; remove it`;
      findings.add(MANIFEST_FILE, "excluded-provider", message);
    }
  }
  if (profile.tagTypes.length === 0 && manifest.tagProviders.length > 0) {
    const message = `the ${profile.name} profile has no tag providers; remove tag_providers`;
    findings.add(MANIFEST_FILE, "unknown-provider", message);
  }
}

/** Gives true if the type may be declared. */
function checkType(source: Source, allowed: ReadonlySet<string>, context: RenderContext): boolean {
  const { profile, findings } = context;
  const type = typeOf(source.path) ?? "";
  if (profile.denied.has(type)) {
    findings.add(source.source, "denied-type", `${type} is never declared; remove the file`);
    return false;
  }
  if (!allowed.has(type)) {
    const message = `${type} is not among the manifest's types; add it or remove the file`;
    findings.add(source.source, "type-not-allowed", message);
    return false;
  }
  if (!profile.types.has(type) && !isTagType(profile, type)) {
    const message = `there is no rule for ${type}; remove it from the manifest and the tree`;
    findings.add(source.source, "no-rule", message);
    return false;
  }
  return true;
}

function checkNames({ source, path }: Source, { profile, findings }: RenderContext): void {
  if (profile.ownFiles.has(lastOf(path))) {
    findings.add(source, "gateway-owned", "the gateway writes this file itself; remove it");
  }
  if (path.split("/").some(isDotName)) {
    const message = "a name begins with a dot; only .gitkeep may, remove or rename it";
    findings.add(source, "dot-name", message);
  }
}

function checkTags(file: Source, context: RenderContext): void {
  const { profile, manifest, excluded, findings } = context;
  const { source, path, misplaced } = file;
  if (!isTagType(profile, typeOf(path) ?? "")) return;
  const [, type, provider = "", ...rest] = path.split("/");
  if (misplaced) {
    const message = `tags belong below tags/<provider>/${type}/; move it there`;
    findings.add(source, "misplaced-tag-type", message);
  }
  if (excluded.has(provider)) {
    const message = `the provider "${provider}" is excluded; remove its folder`;
    findings.add(source, "excluded-provider", message);
  } else if (!manifest.tagProviders.includes(provider)) {
    const message = `the provider "${provider}" is not among tag_providers; add it there`;
    findings.add(source, "unknown-provider", message);
  }
  const folder = rest.slice(0, -1).find((name) => profile.memberNames.has(name));
  if (folder !== undefined) {
    const message = `a tag folder can't be called "${folder}": a member is; rename it`;
    findings.add(source, "member-named-folder", message);
  }
}
