import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ControlPlane } from "../telemetry/control-plane.ts";
import { ROOT } from "../telemetry/paths.ts";

const HOSTS = { "web-1": "web", "api-1": "api", "db-1": "db", "bastion-1": "bastion" };

let plane: ControlPlane;
let page = "";

beforeAll(async () => {
  page = await readFile(join(ROOT, "docs", "quickstart.md"), "utf8");
  plane = await ControlPlane.start({ workloads: Object.keys(HOSTS) });
  for (const [id, role] of Object.entries(HOSTS)) {
    await plane.must(["workload", "admit", id, "--namespace", "shop", "app=shop", `role=${role}`]);
  }
  await plane.must(["apply", "-f", join(ROOT, "deploy", "example", "rules.yaml"), "--wait=60"]);
  await plane.synced(Object.keys(HOSTS).length);
}, 240_000);

afterAll(async () => {
  await plane?.[Symbol.asyncDispose]();
}, 60_000);

describe("the quickstart", () => {
  it("changes something, and back, with the commands that it prints", async () => {
    const [, chapter = ""] = page.split("## 3. Change something\n");
    const [, yaml = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(chapter) ?? [];
    const [, shell = ""] = /^```sh\n([\s\S]*?)^```$/m.exec(chapter) ?? [];
    const file = join(plane.directory, "web-to-db.yaml");
    await writeFile(file, yaml);
    const printed: string[] = [];
    for (const line of shell.trim().split("\n")) {
      const words = line.replace(/#.*/, "").trim().split(/\s+/).slice(2);
      printed.push(
        await plane.must(words.map((word) => (word === "web-to-db.yaml" ? file : word))),
      );
    }
    const [dryRun, applied, traced, explained, history, rolledBack] = printed;
    expect(dryRun).toContain("would commit");
    expect(applied).toContain("converged: 4 agents");
    expect(traced).toMatch(/db-1 +\d+→\d+/);
    expect(explained).toMatch(/^ALLOWED/);
    expect(history).toContain("web-to-db");
    expect(rolledBack).toContain("commit 3");
    const denied = await plane.ringwall(["explain", "web-1", "db-1", "5432/tcp"]);
    expect(denied.stdout).toMatch(/^DENIED/);
  }, 120_000);
});
