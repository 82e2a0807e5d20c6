import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, posix, relative, sep } from "node:path";
import { readRepoTarget } from "@ringwall/declared/fs";
import { asCliError } from "../declared/failure.ts";
import { CliError, systemCode } from "../errors.ts";
import { readInput, readProblem } from "./read-input.ts";

/** Layer of the live configuration. */
export type LayerName = "core" | "environment";

/** One file to apply, as it was found. */
export interface InputFile {
  /** As people name it. */
  readonly file: string;
  readonly bytes: Uint8Array;
  /** Set where the place in a declared repo decides it. */
  readonly layer?: LayerName;
  /** Path in the layer that the place in a declared repo gives. */
  readonly path?: string;
}

const FILES_LIMIT = 100_000;
const YAML_NAME = /\.ya?ml$/;

/** Every file below a directory; `refuses` says of what is no file whether that ends the walk. */
async function walk(
  directory: string,
  refuses: (entry: Dirent, path: string) => Promise<boolean>,
): Promise<string[]> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() || entry.isDirectory() || !(await refuses(entry, path))) continue;
      const kind = entry.isSymbolicLink() ? "a symbolic link, which is not followed" : "no file";
      throw new CliError("invalid", `${path} is ${kind}`, {
        hint: "put the file itself there, or take it out; nothing was written",
      });
    }
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
    if (files.length > FILES_LIMIT) {
      throw new CliError(
        "invalid",
        `${directory} holds ${files.length} files, at most ${FILES_LIMIT} are allowed`,
      );
    }
    return files;
  } catch (error) {
    throw error instanceof CliError ? error : readProblem(directory, error);
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return false;
    throw readProblem(path, error);
  }
}

function leadsOutOf(directory: string): (entry: Dirent, path: string) => Promise<boolean> {
  return async ({ name }, path) => {
    if (!YAML_NAME.test(name)) return false;
    const inside = `${await realpath(directory)}${sep}`;
    const leadsTo = await realpath(path).catch(() => "");
    return !leadsTo.startsWith(inside);
  };
}

/** True if a directory is laid out as a declared repo. */
export async function isDeclaredRepo(directory: string): Promise<boolean> {
  return (
    (await isDirectory(join(directory, "targets"))) &&
    (await isDirectory(join(directory, "gateways")))
  );
}

async function gatewayOf(directory: string, environment: string): Promise<string> {
  const target = await asCliError("", () => readRepoTarget(directory, environment));
  if (target !== undefined) return target.gateway;
  throw new CliError("usage", `${join(directory, "targets", environment)}.yaml is not there`, {
    hint: `write one that names a gateway for ${environment}, or apply the files themselves`,
  });
}

/**
 * Files of a declared repo for one environment: `gateways/<gateway>/resources/…` is the core layer,
 * `gateways/<gateway>/modes/<environment>/resources/…` the environment's. A link or a special file
 * is refused: what is left out in silence would look applied.
 */
export async function filesOfRepo(directory: string, environment: string): Promise<InputFile[]> {
  const gateway = join(directory, "gateways", await gatewayOf(directory, environment));
  const layers: readonly [LayerName, string][] = [
    ["core", join(gateway, "resources")],
    ["environment", join(gateway, "modes", environment, "resources")],
  ];
  const found: InputFile[] = [];
  for (const [layer, root] of layers) {
    if (!(await isDirectory(root))) continue;
    for (const file of await walk(root, () => Promise.resolve(true))) {
      if (file.endsWith(`${sep}.gitkeep`)) continue;
      const path = relative(root, file).split(sep).join(posix.sep);
      found.push({ file, bytes: await readInput(file), layer, path });
    }
  }
  return found;
}

/**
 * A file, or every YAML file below a directory that is no declared repo. A YAML name that leads out
 * of the directory is refused; one that leads to a file in it, as in a mounted ConfigMap, is not
 * needed.
 */
export async function filesOf(path: string): Promise<InputFile[]> {
  const files = (await isDirectory(path))
    ? (await walk(path, leadsOutOf(path))).filter((file) => YAML_NAME.test(file))
    : [path];
  const found: InputFile[] = [];
  for (const file of files) found.push({ file, bytes: await readInput(file) });
  return found;
}
