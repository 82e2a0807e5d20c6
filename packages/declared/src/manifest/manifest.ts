import { DeclaredError } from "../errors.ts";
import { isTagType, type Profile } from "../profile/profile.ts";
import { relPathProblem, sortPaths } from "../tree/path.ts";
import { label, texts, versionOne } from "./fields.ts";
import { type Fields, readFields } from "./strict-yaml.ts";

/** Name of the file that says what of a gateway is declared. */
export const MANIFEST_FILE = "manifest.yaml";

/** What of a gateway is declared. */
export interface Manifest {
  /** Version of the standards that the tree follows: a label for people. */
  readonly standardsVersion?: string;
  /** `module/type`, in the order of the file. */
  readonly types: readonly string[];
  readonly tagProviders: readonly string[];
  readonly excludeTagProviders: readonly string[];
  readonly readOnlyTagProviders: readonly string[];
}

interface Keys {
  schema_version: 1;
  standards_version: string;
  types: string[];
  tag_providers: string[];
  exclude_tag_providers: string[];
  read_only_tag_providers: string[];
}

const provider = texts((text) =>
  text.includes("/") || relPathProblem(text) !== undefined ? `"${text}" is no provider` : undefined,
);

const FIELDS: Fields<Keys> = {
  schema_version: versionOne,
  standards_version: label,
  types: texts((text) =>
    text.split("/").length !== 2 || relPathProblem(text) !== undefined
      ? `"${text}" is not module/type`
      : undefined,
  ),
  tag_providers: provider,
  exclude_tag_providers: provider,
  read_only_tag_providers: provider,
};

/** Reads a manifest's text. Throws DeclaredError `manifest` with every finding. */
export function readManifest(text: string, path: string = MANIFEST_FILE): Manifest {
  const read = readFields({ path, text, code: "manifest" }, FIELDS);
  for (const key of ["schema_version", "types"] as const) {
    if (read[key] === undefined) {
      const message = `the key ${key} is missing`;
      throw new DeclaredError("manifest", `${path}: ${message}`, [
        { path, code: "value-invalid", message },
      ]);
    }
  }
  return {
    ...(read.standards_version === undefined ? {} : { standardsVersion: read.standards_version }),
    types: read.types ?? [],
    tagProviders: read.tag_providers ?? [],
    excludeTagProviders: read.exclude_tag_providers ?? [],
    readOnlyTagProviders: read.read_only_tag_providers ?? [],
  };
}

/** Writes a manifest that names these types and providers, in byte order. */
export function writeManifest(
  profile: Profile,
  types: readonly string[],
  tagProviders: readonly string[],
): string {
  const lines = ["schema_version: 1", ...listLines("types", types)];
  if (profile.tagTypes.length > 0) lines.push(...listLines("tag_providers", tagProviders));
  return `${lines.join("\n")}\n`;
}

function listLines(key: string, names: readonly string[]): string[] {
  if (names.length === 0) return [`${key}: []`];
  return [`${key}:`, ...sortPaths([...names]).map((name) => `  - ${scalar(name)}`)];
}

/** Plain where YAML reads the same text back, else in double quotes. */
function scalar(name: string): string {
  const plain =
    /^[A-Za-z][A-Za-z0-9_./-]*$/.test(name) && !/^(?:true|false|null|yes|no|on|off)$/i.test(name);
  return plain ? name : JSON.stringify(name);
}

/** Providers that are never declared, read or written, and how names are compared with them. */
export class ExcludedProviders {
  readonly #folded: ReadonlySet<string>;
  /** As they were written, in byte order. */
  readonly names: readonly string[];

  constructor(profile: Profile, manifest: Manifest | undefined, further: readonly string[] = []) {
    const names = [
      ...profile.excludedProviders,
      ...(manifest?.excludeTagProviders ?? []),
      ...(manifest?.readOnlyTagProviders ?? []),
      ...further,
    ];
    this.names = sortPaths([...new Set(names)]);
    this.#folded = new Set(names.map(foldAscii));
  }

  /** True if a provider is excluded, whatever the case of its ASCII letters. */
  has(provider: string): boolean {
    return this.#folded.has(foldAscii(provider));
  }

  /** True if a collection path belongs to an excluded provider. */
  hasPath(profile: Profile, path: string): boolean {
    const [module, type, name] = path.split("/", 3);
    return name !== undefined && isTagType(profile, `${module}/${type}`) && this.has(name);
  }
}

function foldAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
