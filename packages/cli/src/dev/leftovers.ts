import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const FILE = "processes.json";
const DEADLINE_MS = 5_000;
const POLL_MS = 50;

/** A process that a development control plane started. */
interface Started {
  readonly pid: number;
  /** What its command line ended with, so that a number that was given again is not mistaken. */
  readonly command: string;
}

/**
 * Remembers what was started, so that the next start can end what a killed one left behind. Writes
 * are in order; a lost one only means a process less that is found.
 */
export class ProcessNotes {
  readonly #file: string;
  readonly #started = new Map<string, Started>();
  #writing: Promise<void> = Promise.resolve();

  constructor(root: string) {
    this.#file = join(root, FILE);
  }

  /** Notes the present life of a process. */
  note(name: string, pid: number, command: string): void {
    this.#started.set(name, { pid, command });
    const text = JSON.stringify([...this.#started.values()]);
    this.#writing = this.#writing.then(() => writeFile(this.#file, text)).catch(() => undefined);
  }

  /** Waits until everything that was noted is on disk. */
  written(): Promise<void> {
    return this.#writing;
  }

  /** Forgets everything: it was stopped. */
  async clear(): Promise<void> {
    await this.#writing;
    await rm(this.#file, { force: true });
  }
}

/**
 * Ends what an earlier start in this directory left running; gives the number of processes. Only
 * where /proc shows that a process is still the noted one.
 */
export async function endLeftovers(root: string): Promise<number> {
  const noted = await readNotes(join(root, FILE));
  const alive: Started[] = [];
  for (const each of noted) if (await isStill(each)) alive.push(each);
  for (const { pid } of alive) signal(pid, "SIGTERM");
  const until = performance.now() + DEADLINE_MS;
  for (const each of alive) {
    while ((await isStill(each)) && performance.now() < until) await delay(POLL_MS);
    if (await isStill(each)) signal(each.pid, "SIGKILL");
  }
  return alive.length;
}

async function readNotes(file: string): Promise<Started[]> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    return Array.isArray(value) ? value.filter(isStarted) : [];
  } catch {
    // Nothing was noted, or it was cut off while it was written.
    return [];
  }
}

function isStarted(value: unknown): value is Started {
  return (
    typeof value === "object" &&
    value !== null &&
    "pid" in value &&
    typeof value.pid === "number" &&
    value.pid > 1 &&
    "command" in value &&
    typeof value.command === "string"
  );
}

async function isStill({ pid, command }: Started): Promise<boolean> {
  const running = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return running.replaceAll("\0", " ").trimEnd().endsWith(command) && command !== "";
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended in between.
  }
}
