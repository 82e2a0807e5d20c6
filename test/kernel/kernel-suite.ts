import { spawnSync } from "node:child_process";
import { describe } from "vitest";

/** Why kernel tests can't run here; undefined if they can. */
export function kernelObstacle(): string | undefined {
  if (process.platform !== "linux") return "needs Linux";
  if (process.getuid?.() !== 0) return "needs root for network namespaces";
  for (const [tool, ...args] of [
    ["ip", "-V"],
    ["nft", "--version"],
    ["ping", "-V"],
    ["conntrack", "-V"],
  ]) {
    if (spawnSync(tool ?? "", args).error !== undefined) return `needs ${tool}`;
  }
  const probe = `rwprobe${process.pid}`;
  if (spawnSync("ip", ["netns", "add", probe]).status !== 0) {
    return "may not make network namespaces";
  }
  const run = spawnSync("ip", ["netns", "exec", probe, "nft", "list", "ruleset"]);
  spawnSync("ip", ["netns", "del", probe]);
  return run.status === 0 ? undefined : "nft may not read a namespace's ruleset";
}

const obstacle = kernelObstacle();

/** A suite that runs on a real kernel, or is skipped with the reason in its name. */
export function kernelSuite(name: string, body: () => void): void {
  if (obstacle === undefined) describe(name, body);
  else describe.skip(`${name} (skipped: ${obstacle})`, body);
}
