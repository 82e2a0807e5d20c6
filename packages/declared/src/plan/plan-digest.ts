import { createHash } from "node:crypto";
import type { PlanEntry } from "./plan.ts";

/**
 * SHA-256 of a plan's canonical text: for each entry `status SP key SP live_in SP core SP destructive
 * LF` (`live_in` the layers, `core` whether the effective copy is core's, `destructive` yes or no),
 * for each of its files two spaces and `path NUL live digest or - NUL desired digest or - LF`, then
 * for each file to delete `delete SP path LF`.
 */
export function planDigest(entries: readonly PlanEntry[], deletes: readonly string[]): string {
  const digest = createHash("sha256");
  for (const { status, key, liveIn, destructive, files } of entries) {
    const layers = liveIn.length === 0 ? "-" : liveIn.join(",");
    const core = liveIn.length === 1 && liveIn[0] === "core" ? "yes" : "no";
    const lines = [`${status} ${key} ${layers} ${core} ${destructive ? "yes" : "no"}\n`];
    for (const { path, live, desired } of files) {
      lines.push(`  ${path}\0${live?.sha256 ?? "-"}\0${desired?.sha256 ?? "-"}\n`);
    }
    digest.update(lines.join(""));
  }
  for (const path of deletes) digest.update(`delete ${path}\n`);
  return digest.digest("hex");
}
