import { createHash, randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { isRunning, pidOf, processName } from "./process-name.ts";

/** Looks at a lock that changes hands meanwhile before it is left to the others. */
const ATTEMPTS = 5;

/** Processes that may end, one after the other, while they take over from the one before. */
const DEPTH = 8;

/** Gives a lock back. */
export type Unlock = () => Promise<void>;

/** Another process has the lock, or this one has it already. */
export class LockTaken extends Error {
  override readonly name = "LockTaken";
  /** Id of the process that has it or takes it over; undefined if several are after it now. */
  readonly holder: number | undefined;

  constructor(path: string, holder: number | undefined) {
    const who = holder === undefined ? "others that are after it now" : `process ${holder}`;
    super(`${path} is held by ${who}`);
    this.holder = holder;
  }
}

/**
 * Takes a lock file for this process. It names its holder by id, start and boot, so that one that
 * ended, however it ended, holds nothing, and a process that was given its id later does not hold it
 * either. Throws LockTaken, or the error of the file system where the file can't be made.
 */
export function takeLock(path: string): Promise<Unlock> {
  return take(path, DEPTH);
}

async function take(path: string, depth: number): Promise<Unlock> {
  const own = await processName(process.pid);
  const beside = `${path}.${randomUUID()}`;
  const unlock = () => giveBack(path, own);
  try {
    await writeFile(beside, own, { mode: 0o600 });
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (await linked(beside, path)) {
        return unlock;
      }
      const holder = await text(path);
      if (holder !== undefined && (await isRunning(holder))) {
        throw new LockTaken(path, pidOf(holder));
      }
      if (holder !== undefined && (await takeOver(path, holder, beside, depth))) {
        return unlock;
      }
    }
    throw new LockTaken(path, undefined);
  } finally {
    await rm(beside, { force: true });
  }
}

/**
 * Puts a file in place of a lock whose holder has ended. Only who has the lock that is named after
 * that holder may, so nobody takes away what another has put there meanwhile. False if it was so.
 */
async function takeOver(
  path: string,
  holder: string,
  beside: string,
  depth: number,
): Promise<boolean> {
  if (depth === 0) {
    throw new LockTaken(path, undefined);
  }
  const unlock = await take(`${path}.${nameOf(holder)}`, depth - 1);
  try {
    if ((await text(path)) !== holder) {
      return false;
    }
    await rename(beside, path);
    return true;
  } finally {
    await unlock();
  }
}

function nameOf(holder: string): string {
  return createHash("sha256").update(holder).digest("hex").slice(0, 16);
}

async function giveBack(path: string, own: string): Promise<void> {
  if ((await text(path)) === own) {
    await rm(path, { force: true });
  }
}

/** Gives a file a second name, unless something has that name. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

function systemCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** What a lock file says; undefined if there is none. */
async function text(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
