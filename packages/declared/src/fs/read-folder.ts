import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { setImmediate } from "node:timers/promises";
import { DeclaredError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import { Content } from "../tree/content.ts";
import { sortPaths } from "../tree/path.ts";
import type { Tree } from "../tree/tree.ts";
import { systemCode, transportError } from "./fs-errors.ts";

/** How a folder is read. */
export interface ReadOptions {
  /** Folders and files, by path below the root, that are not looked at. */
  readonly leaveOut?: (path: string) => boolean;
  /** Hears how many files were read, now and then. */
  readonly observe?: (files: number) => void;
}

/** A folder at one moment. */
export interface FolderReading {
  readonly tree: Tree;
  /** Changes when a file is added, removed, replaced or written. */
  readonly fingerprint: string;
}

interface Found {
  readonly path: string;
  readonly stamp: string;
  readonly size: number;
}

/** Files after which others may run. */
const PAUSE_EVERY = 1_000;
const ATTEMPTS = 3;

/**
 * Reads every file below a folder. Only a folder that is not there reads as empty. Throws
 * DeclaredError `transport` for a symbolic link, a special file, a name that is not UTF-8, anything
 * unreadable, an exceeded limit, and a folder that does not stop changing.
 */
export async function readFolder(root: string, options: ReadOptions = {}): Promise<FolderReading> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const found = scan(root, options);
    try {
      const tree = await readAll(root, found, options);
      const fingerprint = fingerprintOf(found);
      if (fingerprintOf(scan(root, options)) === fingerprint) return { tree, fingerprint };
    } catch (error) {
      // A file that went away while it was read is a change; anything else is final.
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }
  throw new DeclaredError("transport", `${root} changes while it is read; try again`);
}

/** The fingerprint of a folder as it is now, without reading its files. */
export function folderFingerprint(root: string, options: ReadOptions = {}): string {
  return fingerprintOf(scan(root, options));
}

function fingerprintOf(found: readonly Found[]): string {
  const digest = createHash("sha256");
  for (const { path, stamp } of found) digest.update(`${path}\0${stamp}\n`);
  return digest.digest("hex");
}

/**
 * Every file below the root, in byte order of the paths. Without waiting between the calls, so that
 * the time in which the folder can change is short.
 */
function scan(root: string, options: ReadOptions): Found[] {
  const found = new Map<string, Found>();
  let bytes = 0;
  const enter = (folder: string, depth: number): void => {
    if (depth > LIMITS.folderDepth) {
      throw limit(`${root}/${folder}`, `folders nested ${depth} deep`, LIMITS.folderDepth);
    }
    for (const entry of entriesOf(root, folder)) {
      const path = childOf(root, folder, entry.name);
      if (options.leaveOut?.(path) === true) continue;
      if (entry.isDirectory()) enter(path, depth + 1);
      else if (entry.isFile()) {
        const file = stampOf(root, path);
        bytes += file.size;
        found.set(path, file);
        checkLimits(root, path, file.size, found.size, bytes);
      } else throw refused(root, path, entry);
    }
  };
  enter("", 0);
  return sortPaths([...found.keys()]).flatMap((path) => found.get(path) ?? []);
}

function entriesOf(root: string, folder: string): Dirent<Buffer>[] {
  const path = folder === "" ? root : `${root}/${folder}`;
  try {
    if (folder === "" && !lstatSync(path).isDirectory()) {
      throw new DeclaredError("transport", `${path} is not a folder; links are not followed`);
    }
    return readdirSync(path, { withFileTypes: true, encoding: "buffer" });
  } catch (error) {
    if (folder === "" && systemCode(error) === "ENOENT") return [];
    throw transportError(path, error);
  }
}

function childOf(root: string, folder: string, name: Buffer): string {
  if (!isUtf8(name)) {
    const shown = name.toString("latin1").replace(/[^\x20-\x7e]/g, "?");
    throw new DeclaredError(
      "transport",
      `${root}/${folder}: the name "${shown}" is not UTF-8; rename it`,
    );
  }
  return folder === "" ? name.toString("utf8") : `${folder}/${name.toString("utf8")}`;
}

function stampOf(root: string, path: string): Found {
  try {
    const { size, mtimeNs, ino } = lstatSync(`${root}/${path}`, { bigint: true });
    return { path, size: Number(size), stamp: `${size} ${mtimeNs} ${ino}` };
  } catch (error) {
    throw transportError(`${root}/${path}`, error);
  }
}

function refused(root: string, path: string, entry: Dirent<Buffer>): DeclaredError {
  const kind = entry.isSymbolicLink() ? "a symbolic link" : "a special file";
  return new DeclaredError(
    "transport",
    `${root}/${path} is ${kind}; only files and folders are read`,
  );
}

function checkLimits(root: string, path: string, size: number, files: number, all: number): void {
  if (size > LIMITS.fileBytes) throw limit(`${root}/${path}`, `${size} bytes`, LIMITS.fileBytes);
  if (files > LIMITS.files) throw limit(root, `more than ${LIMITS.files} files`, LIMITS.files);
  if (all > LIMITS.treeBytes) throw limit(root, `more than ${all} bytes in all`, LIMITS.treeBytes);
}

function limit(path: string, what: string, most: number): DeclaredError {
  return new DeclaredError("transport", `${path}: ${what}; at most ${most} are allowed`);
}

/** Reads the files one after the other: calls that wait for each other cost four times as much. */
async function readAll(
  root: string,
  found: readonly Found[],
  { observe }: ReadOptions,
): Promise<Tree> {
  const files = new Map<string, Content>();
  for (const { path } of found) {
    files.set(path, readContent(`${root}/${path}`));
    if (files.size % PAUSE_EVERY === 0) {
      observe?.(files.size);
      await setImmediate();
    }
  }
  return files;
}

/** Reads one file, never through a link. Throws DeclaredError `transport`, or ENOENT as it came. */
export function readContent(path: string): Content {
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = openSync(path, flags);
    try {
      const status = fstatSync(file);
      if (!status.isFile()) throw new DeclaredError("transport", `${path} is not a file`);
      if (status.size > LIMITS.fileBytes) {
        throw limit(path, `${status.size} bytes`, LIMITS.fileBytes);
      }
      return new Content(readFileSync(file));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (systemCode(error) === "ENOENT") throw error;
    throw transportError(path, error);
  }
}

/** Reads one file; undefined if it is not there. */
export function readContentIfAny(path: string): Content | undefined {
  try {
    return readContent(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
