import { readdir, readFile, stat } from "node:fs/promises";
import { join, posix, relative, sep } from "node:path";
import { parse } from "yaml";
import { CliError, messageOf, systemCode } from "../errors.ts";

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

/** Largest input file in bytes: what one commit can carry. */
export const INPUT_FILE_LIMIT_BYTES = 16 * 1024 * 1024;
const FILES_LIMIT = 100_000;
const YAML_NAME = /\.ya?ml$/;

function readProblem(file: string, error: unknown): CliError {
  switch (systemCode(error)) {
    case "ENOENT":
      return new CliError("usage", `${file}: no such file or directory`);
    case "EACCES":
    case "EPERM":
      return new CliError("denied", `${file}: no permission to read it`);
    default:
      return new CliError("usage", `${file}: can't be read: ${messageOf(error)}`);
  }
}

async function read(file: string): Promise<Uint8Array> {
  try {
    const { size } = await stat(file);
    if (size > INPUT_FILE_LIMIT_BYTES) {
      throw new CliError(
        "invalid",
        `${file} has ${size} bytes, at most ${INPUT_FILE_LIMIT_BYTES} are allowed; split it`,
      );
    }
    return await readFile(file);
  } catch (error) {
    throw error instanceof CliError ? error : readProblem(file, error);
  }
}

async function walk(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
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

/** True if a directory is laid out as a declared repo. */
export async function isDeclaredRepo(directory: string): Promise<boolean> {
  return (
    (await isDirectory(join(directory, "targets"))) &&
    (await isDirectory(join(directory, "gateways")))
  );
}

async function gatewayOf(directory: string, environment: string): Promise<string> {
  const file = join(directory, "targets", `${environment}.yaml`);
  const text = Buffer.from(await read(file)).toString("utf8");
  const target: unknown = parse(text);
  const gateway =
    typeof target === "object" && target !== null && "gateway" in target
      ? target.gateway
      : undefined;
  if (typeof gateway !== "string" || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(gateway)) {
    throw new CliError("invalid", `${file}: gateway must name a directory below gateways/`);
  }
  return gateway;
}

/**
 * Files of a declared repo for one environment: `gateways/<gateway>/resources/…` is the core layer,
 * `gateways/<gateway>/modes/<environment>/resources/…` the environment's.
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
    for (const file of await walk(root)) {
      if (file.endsWith(`${sep}.gitkeep`)) continue;
      const path = relative(root, file).split(sep).join(posix.sep);
      found.push({ file, bytes: await read(file), layer, path });
    }
  }
  return found;
}

/** A file, or every YAML file below a directory that is no declared repo. */
export async function filesOf(path: string): Promise<InputFile[]> {
  const files = (await isDirectory(path))
    ? (await walk(path)).filter((file) => YAML_NAME.test(file))
    : [path];
  const found: InputFile[] = [];
  for (const file of files) found.push({ file, bytes: await read(file) });
  return found;
}
