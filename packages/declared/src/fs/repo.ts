import { lstat, mkdir, open, readdir, rename } from "node:fs/promises";
import { DeclaredError } from "../errors.ts";
import { MANIFEST_FILE, type Manifest, readManifest } from "../manifest/manifest.ts";
import { environmentProblem, readTarget, type Target, writeTarget } from "../manifest/target.ts";
import { isKeepFile } from "../render/collect.ts";
import { Content } from "../tree/content.ts";
import type { Tree } from "../tree/tree.ts";
import {
  presentFolder,
  replaceFolder,
  type SwappedFolder,
  type SwapStep,
  syncFolder,
} from "./folder-swap.ts";
import { systemCode, transportError, writeError } from "./fs-errors.ts";
import { readContentIfAny, readFolder } from "./read-folder.ts";

/** A declared tree in a folder, for one environment. */
export interface RepoReading {
  readonly target: Target;
  /** Absent if the gateway's folder has none. */
  readonly manifest?: Manifest;
  /** Files below the gateway's folder; other environments' overlays are not read. */
  readonly tree: Tree;
}

const targetFile = (root: string, environment: string) => `${root}/targets/${environment}.yaml`;

function gatewayFolder(root: string, gateway: string): SwappedFolder {
  return { target: `${root}/gateways/${gateway}`, beside: `${root}/gateways/.${gateway}.ringwall` };
}

/**
 * Reads which gateway serves an environment; undefined if the repo does not say. Throws
 * DeclaredError `target`, and `transport` if the repo is not there.
 */
export async function readRepoTarget(
  root: string,
  environment: string,
): Promise<Target | undefined> {
  const problem = environmentProblem(environment);
  if (problem !== undefined) throw new DeclaredError("target", problem);
  const path = `targets/${environment}.yaml`;
  const content = readContentIfAny(targetFile(root, environment));
  if (content === undefined) return undefined;
  const text = content.text();
  if (text === undefined) throw new DeclaredError("target", `${path}: not UTF-8`);
  return readTarget(text, path, environment);
}

/** Reads a declared tree for one environment. Throws DeclaredError. */
export async function readRepo(
  root: string,
  target: Target,
  observe?: (files: number) => void,
): Promise<RepoReading> {
  const { environment, gateway } = target;
  const folder = await presentFolder(gatewayFolder(root, gateway));
  if (!(await isFolder(folder))) {
    const message = `${root}/gateways/${gateway} is not there; targets/${environment}.yaml names it`;
    throw new DeclaredError("transport", message);
  }
  const { tree } = await readFolder(folder, {
    leaveOut: (path) => path.startsWith("modes/") && !isOverlay(path, environment),
    ...(observe === undefined ? {} : { observe }),
  });
  const manifest = manifestOf(tree, `gateways/${gateway}/${MANIFEST_FILE}`);
  return { target, tree, ...(manifest === undefined ? {} : { manifest }) };
}

function isOverlay(path: string, environment: string): boolean {
  return path === `modes/${environment}` || path.startsWith(`modes/${environment}/`);
}

function manifestOf(tree: Tree, name: string): Manifest | undefined {
  const content = tree.get(MANIFEST_FILE);
  if (content === undefined) return undefined;
  const text = content.text();
  if (text === undefined) throw new DeclaredError("manifest", `${name}: not UTF-8`);
  return readManifest(text);
}

/** Reads only the manifest of a gateway's folder; undefined if there is none. */
export async function readRepoManifest(
  root: string,
  gateway: string,
): Promise<Manifest | undefined> {
  const folder = await presentFolder(gatewayFolder(root, gateway));
  const content = readContentIfAny(`${folder}/${MANIFEST_FILE}`);
  return content === undefined
    ? undefined
    : manifestOf(new Map([[MANIFEST_FILE, content]]), `gateways/${gateway}/${MANIFEST_FILE}`);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw transportError(path, error);
  }
}

/**
 * True if writing a gateway's tree for an environment would replace something: files of the base or
 * of the environment's overlay, or a manifest.
 */
export async function holdsDeclared(
  root: string,
  gateway: string,
  environment: string,
): Promise<boolean> {
  const folder = await presentFolder(gatewayFolder(root, gateway));
  for (const part of ["resources", "tags", `modes/${environment}`, MANIFEST_FILE]) {
    try {
      if ((await readdir(`${folder}/${part}`)).length > 0) return true;
    } catch (error) {
      const code = systemCode(error);
      if (code === "ENOTDIR") return true;
      if (code !== "ENOENT") throw transportError(`${folder}/${part}`, error);
    }
  }
  return false;
}

/** What is written into a repo. */
export interface RepoWrite {
  readonly gateway: string;
  readonly environment: string;
  /** Files below the gateway's folder, as a pull gives them. */
  readonly tree: Tree;
  /** Written where the repo has no target for the environment yet. */
  readonly newTarget?: Pick<Target, "os">;
  readonly observe?: (step: SwapStep) => void;
}

/**
 * Writes a pulled tree: base, the environment's overlay and a generated manifest are replaced as a
 * whole, staged, synced and swapped. Other overlays, a manifest that was kept, `.gitkeep` files and
 * whatever else stands in the gateway's folder stay. Throws DeclaredError `transport`.
 */
export async function writeRepo(root: string, write: RepoWrite): Promise<void> {
  const { gateway, environment, tree, newTarget, observe } = write;
  if (newTarget !== undefined) await writeTargetFile(root, gateway, environment, newTarget.os);
  const replaced = ["resources/", "tags/", `modes/${environment}/`];
  await replaceFolder(gatewayFolder(root, gateway), {
    files: tree,
    leaveOut: (path) => replaced.some((part) => path.startsWith(part)) && !isKeepFile(path),
    ...(observe === undefined ? {} : { observe }),
  });
}

async function writeTargetFile(
  root: string,
  gateway: string,
  environment: string,
  os: Target["os"],
): Promise<void> {
  const path = targetFile(root, environment);
  try {
    await mkdir(`${root}/targets`, { recursive: true });
    const file = await open(`${path}.new`, "w");
    await file.writeFile(Content.ofText(writeTarget(gateway, environment, os)).bytes);
    await file.sync();
    await file.close();
    await rename(`${path}.new`, path);
    await syncFolder(`${root}/targets`);
  } catch (error) {
    throw writeError(path, error);
  }
}
