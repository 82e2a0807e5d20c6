/**
 * The incremental engine beside the full render of the same estate in the same run. Each case has a
 * process of its own, so that its peak memory, inputs included, is its own.
 * - `build`: (a) 100k workloads and 75k rules in 25k namespaces, (b) 250k workloads of which 200 are
 *   in the scope of 10k selector rules, (c) 10k rules that each select all 10k workloads: on every
 *   workload, which breaks a limit, and spread so that none does. Milliseconds and megabytes
 * - `change`: (d) one change in an estate of 10k, 100k or 250k workloads until every affected delta is
 *   encoded: microseconds
 * `cpu` is the time that the thread was on a processor, to which a busy machine adds little; it is
 * counted in ticks, so only its mean says something of short changes.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { reportMachine } from "./harness.ts";

const CHILD = fileURLToPath(new URL("./render/child.ts", import.meta.url));
/** As deploy/ runs the renderer: docs/adr/0004-large-pages-for-the-renderer.md. */
const LARGE_PAGES = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" };

const CASES = [
  ["build", "a"],
  ["build", "b"],
  ["build", "c-refused"],
  ["build", "c-shared"],
  ["change", "10000"],
  ["change", "100000"],
  ["change", "250000"],
] as const;

/** Runs every case. */
export function bench(): void {
  reportMachine("render");
  for (const [kind, name] of CASES) {
    const { status } = spawnSync(process.execPath, ["--expose-gc", CHILD, kind, name], {
      stdio: "inherit",
      env: { ...process.env, ...LARGE_PAGES },
    });
    if (status !== 0) {
      throw new Error(`render ${kind} ${name} ended with ${status}`);
    }
  }
}
