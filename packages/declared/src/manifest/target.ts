import { DeclaredError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { Os } from "../lints/names.ts";
import { folderName, texts, versionOne, wholeNumber, word } from "./fields.ts";
import { type Fields, readFields } from "./strict-yaml.ts";

/** What `targets/<env>.yaml` says: which gateway serves the environment, and where it runs. */
export interface Target {
  readonly gateway: string;
  readonly environment: string;
  readonly os: Os;
  /** Addresses or names of the gateway's nodes, for people and other tools. */
  readonly nodes: readonly string[];
  /** Most UTF-16 units of a path in a collection. */
  readonly pathBudget?: number;
  readonly excludeTagProviders: readonly string[];
}

interface Keys {
  schema_version: 1;
  gateway: string;
  environment: string;
  os: Os;
  nodes: string[];
  path_budget: number;
  exclude_tag_providers: string[];
}

const anyText = texts((text) => (text === "" ? "an element is empty" : undefined));

const FIELDS: Fields<Keys> = {
  schema_version: versionOne,
  gateway: folderName,
  environment: folderName,
  os: word(["linux", "windows"]),
  nodes: anyText,
  path_budget: wholeNumber(1, LIMITS.windowsPath),
  exclude_tag_providers: anyText,
};

/** Names that the live side uses for something else. */
const RESERVED: ReadonlySet<string> = new Set(["system", "external", "core", "local"]);

/** Why a text can't name an environment, or undefined if it can. */
export function environmentProblem(name: string): string | undefined {
  const read = folderName(name);
  if (typeof read === "string") return `the environment "${name}" ${read}`;
  return RESERVED.has(name.toLowerCase())
    ? `the environment can't be "${name}": the live side uses that name for something else`
    : undefined;
}

/** Reads a target's text. Throws DeclaredError `target` with every finding. */
export function readTarget(text: string, path: string, environment: string): Target {
  const read = readFields({ path, text, code: "target" }, FIELDS);
  const fail = (message: string) =>
    new DeclaredError("target", `${path}: ${message}`, [{ path, code: "value-invalid", message }]);
  const { gateway } = read;
  if (read.schema_version === undefined) throw fail("the key schema_version is missing");
  if (gateway === undefined) throw fail("the key gateway is missing");
  if (read.environment !== environment) {
    throw fail(`environment must be ${environment}, as the file is named`);
  }
  const problem = environmentProblem(environment);
  if (problem !== undefined) throw fail(problem);
  return {
    gateway,
    environment,
    os: read.os ?? "linux",
    nodes: read.nodes ?? [],
    ...(read.path_budget === undefined ? {} : { pathBudget: read.path_budget }),
    excludeTagProviders: read.exclude_tag_providers ?? [],
  };
}

/** Writes a target for a repo that has none yet. */
export function writeTarget(gateway: string, environment: string, os: Os): string {
  return `schema_version: 1\ngateway: ${gateway}\nenvironment: ${environment}\nos: ${os}\n`;
}
