import { readFile } from "node:fs/promises";

/** Clock ticks of a second in /proc. */
const TICKS_MS = 10;

/** CPU milliseconds by process. */
export type CpuUse = Readonly<Record<string, number>>;

/** CPU milliseconds that processes have used so far, by name; empty where there is no /proc. */
export async function cpuMs(
  pids: ReadonlyMap<string, number | undefined>,
): Promise<ReadonlyMap<string, number>> {
  const used = new Map<string, number>();
  for (const [name, pid] of pids) {
    const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    // Behind the name in parentheses: state is field 3, utime 14 and stime 15.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    if (text !== "") used.set(name, (Number(fields[11]) + Number(fields[12])) * TICKS_MS);
  }
  return used;
}

/** What was used between two looks. */
export function cpuBetween(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): CpuUse {
  return Object.fromEntries([...after].map(([name, ms]) => [name, ms - (before.get(name) ?? 0)]));
}
