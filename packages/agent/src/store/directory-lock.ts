import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "../errors.ts";

const LOCK = "lock";

/** Stale locks that are cleared away before somebody else is said to be faster. */
const ATTEMPTS = 5;

/** Gives a state directory back. */
export type Unlock = () => Promise<void>;

/**
 * Takes a state directory for this process, so that no second agent installs and stores policies of
 * the same workload beside it. The lock names a process by id, start and boot: one that ended, however
 * it ended, holds nothing. Throws AgentError `store-in-use` when an agent that runs has it; where the
 * directory can't be written the error of the file system.
 */
export async function lockDirectory(directory: string): Promise<Unlock> {
  const own = (await processName(process.pid)) ?? `${process.pid}`;
  const lock = join(directory, LOCK);
  const beside = `${lock}.${randomUUID()}`;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(beside, own, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (await linked(beside, lock)) {
        return () => unlock(lock, own);
      }
      const holder = await text(lock);
      if (holder === own) {
        throw inUse(directory, "this process");
      }
      if (await runs(holder)) {
        throw inUse(directory, `process ${holder.split(" ")[0]}`);
      }
      await clearStale(lock, holder);
    }
    throw inUse(directory, "others that start at the same time");
  } finally {
    await rm(beside, { force: true });
  }
}

function inUse(directory: string, by: string): AgentError {
  const todo = "stop that agent, or give this one a state directory of its own";
  return new AgentError("store-in-use", `state directory ${directory} is used by ${by}; ${todo}`);
}

async function unlock(lock: string, own: string): Promise<void> {
  if ((await text(lock)) === own) {
    await rm(lock, { force: true });
  }
}

/** Takes a lock away whose holder is gone, unless another one has come there meanwhile. */
async function clearStale(lock: string, holder: string): Promise<void> {
  const aside = `${lock}.${randomUUID()}`;
  try {
    await rename(lock, aside);
  } catch {
    return;
  }
  if ((await text(aside)) !== holder) {
    await linked(aside, lock);
  }
  await rm(aside, { force: true });
}

/** False if the name is taken. */
async function linked(path: string, name: string): Promise<boolean> {
  try {
    await link(path, name);
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST") {
      return false;
    }
    throw thrown;
  }
}

async function runs(holder: string): Promise<boolean> {
  const [pid = ""] = holder.split(" ");
  return /^\d+$/.test(pid) && (await processName(Number(pid))) === holder;
}

/** Id, start (clock ticks since boot) and boot of a process; undefined if it does not run. */
async function processName(pid: number): Promise<string | undefined> {
  const stat = await text(`/proc/${pid}/stat`);
  // Its second field is the command in brackets, which may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state] = fields;
  const started = fields[19];
  if (started === undefined || state === "Z" || state === "X") {
    return undefined;
  }
  const bootId = (await text("/proc/sys/kernel/random/boot_id")).trim();
  return `${pid} ${started} ${bootId}`;
}

async function text(path: string): Promise<string> {
  return await readFile(path, "utf8").catch(() => "");
}
