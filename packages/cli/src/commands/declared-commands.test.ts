import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { run } from "../run.ts";

const EXAMPLES = fileURLToPath(new URL("../../../../examples/", import.meta.url));

/** The commands on an Ignition data directory: no control plane is asked. */
describe("declared commands", () => {
  let root: string;
  let stdout: string;
  let stderr: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "ringwall-commands-"));
    await cp(join(EXAMPLES, "ignition/data"), join(root, "data"), { recursive: true });
  });

  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  function ringwall(...args: readonly string[]): Promise<number> {
    stdout = "";
    stderr = "";
    return run(args, {
      stdout: {
        write: (text) => {
          stdout += text;
        },
      },
      stderr: {
        write: (text) => {
          stderr += text;
        },
      },
      environment: {},
      interrupted: new AbortController().signal,
      connect: () => {
        throw new Error("nobody asked for a control plane");
      },
    });
  }

  const repo = () => join(root, "repo");
  const gateway = (...parts: readonly string[]) => join(repo(), "gateways/plant-1", ...parts);
  const at = (command: string, ...more: readonly string[]) => [
    ...[command, "--profile", "ignition", "--data-dir", join(root, "data"), "--repo", repo()],
    ...["--env", "prod", ...more],
  ];
  const pull = () => ringwall(...at("pull", "--gateway", "plant-1"));

  async function edit(file: string, from: string, to: string): Promise<void> {
    const text = await readFile(file, "utf8");
    expect(text).toContain(from);
    await writeFile(file, text.replace(from, to));
  }

  const mes = () => gateway("modes/prod/resources/ignition/database-connection/MES/config.json");

  it("pull, render and plan: what is left out is unmanaged, and no secret is shown", async () => {
    expect(await pull()).toBe(0);
    expect(stdout).toContain("left out ignition/database-connection/Legacy: embedded_secret");
    expect(stdout).toContain("left out ignition/user-source: denied_type");
    expect(stdout).toContain("43 added, 0 changed, 0 removed, 5 left out; manifest generated");
    expect(stdout + stderr).not.toContain("ExampleOnly");
    expect(await readdir(gateway())).toEqual(["manifest.yaml", "modes", "resources", "tags"]);
    expect(
      await ringwall("render", "--profile", "ignition", "--repo", repo(), "--env", "prod"),
    ).toBe(0);
    expect(await ringwall(...at("plan", "--check", "--diff"))).toBe(0);
    expect(stdout).toContain("? ignition/database-connection/Legacy");
    expect(stdout).toContain("0 added, 0 changed, 0 removed, 18 same, 2 unmanaged");
    expect(stdout + stderr).not.toContain("ExampleOnly");
  });

  it("pull asks before it replaces anything, and reads nothing then", async () => {
    await pull();
    await rm(join(root, "data"), { recursive: true });
    expect(await pull()).toBe(2);
    expect(stderr).toContain("add --yes to replace it");
    expect(await ringwall(...at("pull", "--yes"))).toBe(4);
    expect(await readdir(gateway())).toHaveLength(4);
  });

  it("a missing or unreadable data directory is exit code 4, an absent collection is not", async () => {
    await pull();
    await rm(join(root, "data/config/resources/prod"), { recursive: true });
    expect(await ringwall(...at("plan"))).toBe(0);
    await rm(join(root, "data/config/resources"), { recursive: true });
    expect(await ringwall(...at("plan"))).toBe(4);
  });

  it("apply writes what plan says, and verify holds it against the ledger", async () => {
    await pull();
    expect(await ringwall(...at("verify"))).toBe(6);
    await edit(mes(), '"poolMaxActive": 32', '"poolMaxActive": 48');
    expect(await ringwall(...at("plan", "--check"))).toBe(1);
    expect(stdout).toContain("MES/config.json: another value at $.poolMaxActive");
    expect(await ringwall("--json", ...at("plan", "--check"))).toBe(1);
    const { planSha256 } = JSON.parse(stdout);
    expect(await ringwall(...at("apply", "--plan-sha256", "0".repeat(64)))).toBe(6);
    expect(await ringwall(...at("apply", "--plan-sha256", planSha256))).toBe(0);
    expect(await ringwall(...at("verify"))).toBe(0);
    expect(await ringwall(...at("apply"))).toBe(0);
    expect(stdout).toContain("nothing changed");
    const collection = join(root, "data/config/resources/prod");
    expect(await readdir(collection)).toContain("config-mode.json");
    expect(await readdir(join(root, "data/config"))).toEqual(["resources"]);
  });

  it("apply deletes only with leave, and only what the ledger names", async () => {
    await pull();
    await ringwall(...at("apply"));
    const unit = "ignition/database-connection/MES";
    const foreign = join(root, "data/config/resources/prod", unit, "by-hand.txt");
    await writeFile(foreign, "x");
    await rm(gateway("modes/prod/resources", unit), { recursive: true });
    await rm(gateway("resources", unit), { recursive: true });
    expect(await ringwall(...at("apply"))).toBe(2);
    expect(stderr).toContain("add --allow-destructive");
    expect(await ringwall(...at("apply", "--allow-destructive"))).toBe(0);
    expect(await readdir(join(root, "data/config/resources/prod", unit))).toEqual(["by-hand.txt"]);
    expect(await readdir(join(root, "data/config/resources/core", unit))).toHaveLength(2);
  });

  it("apply refuses to replace a live change unless a reason is given", async () => {
    await pull();
    await ringwall(...at("apply"));
    await cp(repo(), join(root, "applied"), { recursive: true });
    const live = join(
      root,
      "data/config/resources/prod/ignition/database-connection/MES/config.json",
    );
    await edit(live, '"poolMaxActive": 32', '"poolMaxActive": 33');
    await edit(mes(), '"poolMaxActive": 32', '"poolMaxActive": 48');
    const based = at("apply", "--base", join(root, "applied"));
    expect(await ringwall(...based)).toBe(6);
    expect(stderr).toContain("--allow-drift REASON");
    expect(await ringwall(...based, "--allow-drift", "agreed")).toBe(0);
    expect(await readFile(live, "utf8")).toContain('"poolMaxActive": 48');
  });

  it("shows every finding at once, with file and rule, as exit code 3", async () => {
    await pull();
    await edit(mes(), '"driver": "PostgreSQL"', '"driver": "PostgreSQL"\r');
    const scratch = gateway("resources/ignition/user-source/x/config.json");
    await cp(mes(), scratch);
    expect(await ringwall(...at("plan"))).toBe(3);
    expect(stderr).toContain(`${mes()}: error[carriage-return]`);
    expect(stderr).toContain(`${scratch}: error[denied-type]`);
    expect(await ringwall("--json", ...at("plan"))).toBe(3);
    expect(JSON.parse(stdout).error.findings).toHaveLength(3);
  });

  it("refuses options that do not go together", async () => {
    expect(await ringwall("plan", "--profile", "ignition", "--env", "prod")).toBe(2);
    expect(await ringwall("plan", "--data-dir", "x", "--env", "prod")).toBe(2);
    expect(await ringwall("plan", "--repo", root)).toBe(2);
    expect(await ringwall("apply")).toBe(2);
    expect(await ringwall("apply", "--repo", root, "-f", root)).toBe(2);
    expect(await ringwall(...at("pull", "--gateway", "../x"))).toBe(2);
    expect(await ringwall("pull", "--gateway", "g", "--env", "core", "--repo", root)).toBe(2);
  });

  it("examples/shop renders for both of its environments", async () => {
    const shop = join(EXAMPLES, "shop");
    for (const environment of ["prod", "staging"]) {
      expect(await ringwall("--json", "render", "--repo", shop, "--env", environment)).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        gateway: "shop",
        environment,
        profile: "ringwall",
      });
    }
  });
});
