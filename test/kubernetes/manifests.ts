import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { isRecord } from "./check-object.ts";

/** An object of the manifests, and where it stands. */
export interface Manifest {
  readonly file: string;
  readonly kind: string;
  readonly name: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** What a kustomization brings together. */
export interface Kustomization {
  readonly manifests: readonly Manifest[];
  /** Names of images that it pins to a tag. */
  readonly pinned: ReadonlySet<string>;
  /** Files that are missing or can't be read. */
  readonly problems: readonly string[];
}

/** Reads a kustomization and all that it names. */
export function readKustomization(folder: string): Kustomization {
  const [root] = documents(join(folder, "kustomization.yaml"));
  const problems: string[] = [];
  const manifests = texts(root?.resources).flatMap((file) => {
    const path = join(folder, file);
    if (!existsSync(path)) {
      problems.push(`kustomization.yaml names ${file}, which is not there`);
      return [];
    }
    return documents(path).map((object) => manifest(file, object));
  });
  for (const generator of records(root?.configMapGenerator)) {
    const data: Record<string, string> = {};
    for (const file of texts(generator.files)) {
      if (existsSync(join(folder, file))) data[file] = readFileSync(join(folder, file), "utf8");
      else problems.push(`kustomization.yaml names ${file}, which is not there`);
    }
    const metadata = { name: generator.name };
    manifests.push(
      manifest("kustomization.yaml", { apiVersion: "v1", kind: "ConfigMap", metadata, data }),
    );
  }
  const images = records(root?.images).filter((image) => typeof image.newTag === "string");
  return { manifests, pinned: new Set(images.map(({ name }) => String(name))), problems };
}

/** The value at a path of field names. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((each, name) => (isRecord(each) ? each[name] : undefined), value);
}

/** The objects of a list; none if it is no list. */
export function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function documents(path: string): Readonly<Record<string, unknown>>[] {
  return parseAllDocuments(readFileSync(path, "utf8"), { strict: true, uniqueKeys: true }).flatMap(
    (document) => {
      const [error] = document.errors;
      if (error !== undefined) throw new Error(`${path}: ${error.message}`);
      const value: unknown = document.toJS();
      return isRecord(value) ? [value] : [];
    },
  );
}

function manifest(file: string, object: Readonly<Record<string, unknown>>): Manifest {
  return {
    file,
    kind: String(object.kind),
    name: String(at(object, "metadata", "name")),
    object,
  };
}
