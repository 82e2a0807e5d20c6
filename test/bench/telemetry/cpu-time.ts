import { readdirSync, readFileSync } from "node:fs";

/** Milliseconds that all threads of a process have spent on a processor, to the nanosecond. */
export function cpuMs(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const [onCpu = "0"] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(
        " ",
      );
      nanoseconds += Number(onCpu);
    } catch {
      // A thread that has just ended took its figures with it.
    }
  }
  return nanoseconds / 1e6;
}
