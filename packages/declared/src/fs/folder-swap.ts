import {
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
} from "node:fs/promises";
import { dirname } from "node:path";
import { LockTaken, takeLock, type Unlock } from "@ringwall/lock-file";
import { DeclaredError } from "../errors.ts";
import type { Content } from "../tree/content.ts";
import { parentOf } from "../tree/path.ts";
import { systemCode, transportError, writeError } from "./fs-errors.ts";

/** A folder that is replaced as a whole, and where the work on it is done. */
export interface SwappedFolder {
  readonly target: string;
  /** Beginning of the paths beside it, on the same file system, that the work uses. */
  readonly beside: string;
}

/** Steps of a replacement, in order; `written` and `kept` come once per file. */
export type SwapStep =
  | "locked"
  | "recovered"
  | "staging"
  | "kept"
  | "written"
  | "synced"
  | "checked"
  | "old-moved-away"
  | "new-in-place"
  | "settled"
  | "cleaned";

/** What the folder holds afterwards. */
export interface Replacement {
  /** Files to write, by path below the folder. */
  readonly files: ReadonlyMap<string, Content>;
  /** True for present files that are not kept. */
  readonly leaveOut: (path: string) => boolean;
  /** Called before the swap; what it throws leaves everything as it was. */
  readonly check?: () => void;
  readonly observe?: (step: SwapStep) => void;
}

const nameOf = {
  lock: ({ beside }: SwappedFolder) => `${beside}.lock`,
  old: ({ beside }: SwappedFolder) => `${beside}.old`,
  new: ({ beside }: SwappedFolder) => `${beside}.new`,
};

/**
 * Where the folder's present state is. After a crash between the two renames of a swap it is the
 * folder that was moved away, until the next replacement puts it back.
 */
export async function presentFolder(folder: SwappedFolder): Promise<string> {
  if (await exists(folder.target)) return folder.target;
  return (await exists(nameOf.old(folder))) ? nameOf.old(folder) : folder.target;
}

/**
 * Replaces a folder by one that was staged beside it and synced, with two renames; on failure the
 * old one is put back. Whoever looks through `presentFolder` sees the old or the new state, whenever
 * the process ends. Throws DeclaredError `transport`.
 */
export async function replaceFolder(
  folder: SwappedFolder,
  replacement: Replacement,
): Promise<void> {
  const observe = replacement.observe ?? (() => undefined);
  await mkdir(dirname(folder.beside), { recursive: true }).catch((error: unknown) => {
    throw writeError(folder.target, error);
  });
  const unlock = await lock(nameOf.lock(folder));
  try {
    observe("locked");
    await recover(folder);
    observe("recovered");
    await stage(folder, replacement, observe);
    replacement.check?.();
    observe("checked");
    await swap(folder, observe);
    await rm(nameOf.old(folder), { recursive: true, force: true });
    observe("cleaned");
  } catch (error) {
    await rm(nameOf.new(folder), { recursive: true, force: true });
    throw writeError(folder.target, error);
  } finally {
    await unlock();
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw transportError(path, error);
  }
}

/** Holds the lock file; one whose process is gone is taken over. */
async function lock(path: string): Promise<Unlock> {
  try {
    return await takeLock(path);
  } catch (error) {
    if (!(error instanceof LockTaken)) throw writeError(path, error);
    throw new DeclaredError(
      "transport",
      error.holder === undefined
        ? `${path} can't be taken; another process was faster`
        : `process ${error.holder} writes there now (${path})`,
    );
  }
}

/** Settles what a process that ended in the middle left behind. */
async function recover(folder: SwappedFolder): Promise<void> {
  if (!(await exists(folder.target)) && (await exists(nameOf.old(folder)))) {
    await rename(nameOf.old(folder), folder.target);
    await syncFolder(dirname(folder.target));
  }
  await rm(nameOf.old(folder), { recursive: true, force: true });
  await rm(nameOf.new(folder), { recursive: true, force: true });
}

async function stage(
  folder: SwappedFolder,
  { files, leaveOut }: Replacement,
  observe: (step: SwapStep) => void,
): Promise<void> {
  const root = nameOf.new(folder);
  const made = new Set<string>();
  const makeFolder = async (path: string) => {
    if (made.has(path)) return;
    await mkdir(path === "" ? root : `${root}/${path}`, { recursive: true });
    for (let above = path; !made.has(above); above = parentOf(above)) made.add(above);
  };
  await makeFolder("");
  observe("staging");
  const kept = new Set<string>();
  for (const path of await presentFiles(folder.target)) {
    const content = files.get(path);
    const isKept =
      content === undefined ? !leaveOut(path) : await holds(`${folder.target}/${path}`, content);
    if (!isKept) continue;
    await makeFolder(parentOf(path));
    await keep(`${folder.target}/${path}`, `${root}/${path}`);
    kept.add(path);
    observe("kept");
  }
  await inLanes([...files], async ([path, content]) => {
    if (kept.has(path)) return;
    await makeFolder(parentOf(path));
    await writeSynced(`${root}/${path}`, content);
    observe("written");
  });
  await inLanes([...made], (path) => syncFolder(path === "" ? root : `${root}/${path}`));
  observe("synced");
}

/** Waiting for the disk takes longest, so files are synced beside each other. */
const LANES = 16;

async function inLanes<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const lane = async () => {
    for (const item of rest) await work(item);
  };
  // Every lane ends before a failure is told, so that nobody writes while it is cleaned up.
  const ended = await Promise.allSettled(Array.from({ length: LANES }, lane));
  const failed = ended.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Everything below a folder that is no folder, by path; empty if it is not there. */
async function presentFiles(root: string): Promise<string[]> {
  try {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length + 1));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw transportError(root, error);
  }
}

async function holds(path: string, content: Content): Promise<boolean> {
  const status = await lstat(path);
  if (!status.isFile() || status.size !== content.size) return false;
  return content.bytes.length === 0 || Buffer.compare(await readFile(path), content.bytes) === 0;
}

/** The same file under a second name: bytes, times and modes stay, and nothing is copied. */
async function keep(from: string, to: string): Promise<void> {
  if ((await lstat(from)).isSymbolicLink()) await symlink(await readlink(from), to);
  else await link(from, to);
}

async function writeSynced(path: string, content: Content): Promise<void> {
  const file = await open(path, "wx");
  try {
    await file.writeFile(content.bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes names in a folder last. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function swap(folder: SwappedFolder, observe: (step: SwapStep) => void): Promise<void> {
  const replaces = await exists(folder.target);
  if (replaces) await rename(folder.target, nameOf.old(folder));
  observe("old-moved-away");
  try {
    await rename(nameOf.new(folder), folder.target);
  } catch (error) {
    if (replaces) await rename(nameOf.old(folder), folder.target);
    throw error;
  }
  observe("new-in-place");
  await syncFolder(dirname(folder.target));
  observe("settled");
}
