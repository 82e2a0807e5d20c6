import { readFile } from "node:fs/promises";

/**
 * What tells a process from a later one with its id: id, start (clock ticks since boot) and boot,
 * from /proc. Where that shows nothing of it the id alone.
 */
export async function processName(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const started = statFields(stat)[19];
  if (started === undefined) {
    return `${pid}`;
  }
  return `${pid} ${started} ${await bootId()}`;
}

/**
 * True unless the process of that name has ended, or its id is another process's by now. One whose
 * start can't be seen, such as another user's under hidepid, counts as running if it is of this boot.
 */
export async function isRunning(name: string): Promise<boolean> {
  const pid = pidOf(name);
  const [, , boot] = name.split(" ");
  const isOfAnotherBoot = boot !== undefined && boot !== (await bootId());
  if (pid === undefined || isOfAnotherBoot || !exists(pid) || (await isZombie(pid))) {
    return false;
  }
  const present = await processName(pid);
  const isVague = [name, present].some((each) => each === `${pid}`);
  return isVague || name === present;
}

/** The id in a name; undefined if it is no name. */
export function pidOf(name: string): number | undefined {
  const pid = /^\d+(?= |$)/.exec(name)?.[0];
  return pid === undefined || Number(pid) === 0 ? undefined : Number(pid);
}

async function bootId(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")).trim();
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

async function isZombie(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return statFields(stat)[0] === "Z";
}

/** The fields behind the second one, the command in brackets, which may hold anything. */
function statFields(stat: string): readonly string[] {
  return stat === "" ? [] : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
