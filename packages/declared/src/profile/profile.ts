import { DeclaredError } from "../errors.ts";
import type { Layer } from "../tree/tree.ts";

/** How the files of a type are laid out, and whether its resources carry a uuid. */
export type TypeClass = "named" | "named-no-uuid" | "singleton";

/** A place in a JSON file where only a reference to a secret may stand. */
export interface SecretPath {
  /** Name of the file in the resource's folder. */
  readonly file: string;
  /** Keys from the root. */
  readonly keys: readonly string[];
}

/** What is known about a type. */
export interface TypeRule {
  readonly class: TypeClass;
  /** Empty: the type is outside the schema table, and key names tell secrets. */
  readonly secretPaths: readonly SecretPath[];
  /** A unit is one folder with exactly this file, its name having so many components. */
  readonly document?: { readonly file: string; readonly mostComponents: number };
}

/** Everything that makes one kind of live side different from another. Data, no code. */
export interface Profile {
  readonly name: string;
  /** Names the ids that are minted; absent where nothing is minted. */
  readonly uuidDomain?: string;
  /** By `module/type`. */
  readonly types: ReadonlyMap<string, TypeRule>;
  /** Types that are never declared, read or written. */
  readonly denied: ReadonlySet<string>;
  /** Module of the tag types, whose files stand below `tags/`. */
  readonly tagModule: string;
  /** In build order; empty where there are none. */
  readonly tagTypes: readonly string[];
  /** Names of files that no tag folder may have. */
  readonly memberNames: ReadonlySet<string>;
  /** Names of files that the live side writes itself. */
  readonly ownFiles: ReadonlySet<string>;
  /** Tag providers that are never declared, read or written. */
  readonly excludedProviders: readonly string[];
  /** Layers that apply writes and deletes in; with both, base and overlay stay apart. */
  readonly ownedLayers: readonly Layer[];
  /** Folder that the live side's collections stand in on Windows, for the path budget. */
  readonly windowsFolder: string;
}

/** Shape of a profile's data file. */
export interface ProfileData {
  readonly name: string;
  readonly uuidDomain?: string;
  readonly types: Readonly<
    Record<
      string,
      {
        readonly class: string;
        readonly secretPaths?: readonly SecretPath[];
        readonly document?: { readonly file: string; readonly mostComponents: number };
      }
    >
  >;
  readonly denied: readonly string[];
  readonly tagModule: string;
  readonly tagTypes: readonly string[];
  readonly memberNames: readonly string[];
  readonly ownFiles: readonly string[];
  readonly excludedProviders: readonly string[];
  readonly ownedLayers: readonly string[];
  readonly windowsFolder: string;
}

const CLASSES: readonly TypeClass[] = ["named", "named-no-uuid", "singleton"];
const LAYERS: readonly Layer[] = ["core", "environment"];

/** Reads a profile's data. Throws DeclaredError `target` if it names what there is not. */
export function readProfile(data: ProfileData): Profile {
  const types = Object.entries(data.types).map(([type, rule]): [string, TypeRule] => [
    type,
    {
      class: oneOf(CLASSES, rule.class, data.name),
      secretPaths: rule.secretPaths ?? [],
      ...(rule.document === undefined ? {} : { document: rule.document }),
    },
  ]);
  return {
    name: data.name,
    ...(data.uuidDomain === undefined ? {} : { uuidDomain: data.uuidDomain }),
    types: new Map(types),
    denied: new Set(data.denied),
    tagModule: data.tagModule,
    tagTypes: data.tagTypes,
    memberNames: new Set(data.memberNames),
    ownFiles: new Set(data.ownFiles),
    excludedProviders: data.excludedProviders,
    ownedLayers: data.ownedLayers.map((layer) => oneOf(LAYERS, layer, data.name)),
    windowsFolder: data.windowsFolder,
  };
}

function oneOf<Word extends string>(words: readonly Word[], text: string, profile: string): Word {
  const found = words.find((word) => word === text);
  if (found === undefined) {
    throw new DeclaredError("target", `profile ${profile} says "${text}", not ${words.join(", ")}`);
  }
  return found;
}

/** True if a `module/type` is a tag type. */
export function isTagType(profile: Profile, type: string): boolean {
  const slash = type.indexOf("/");
  return (
    type.slice(0, slash) === profile.tagModule && profile.tagTypes.includes(type.slice(slash + 1))
  );
}

/** True if base and overlay are kept apart on the live side. */
export function keepsLayers(profile: Profile): boolean {
  return profile.ownedLayers.length === LAYERS.length;
}
