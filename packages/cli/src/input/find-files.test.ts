import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { filesOf, filesOfRepo } from "./find-files.ts";
import { readInput } from "./read-input.ts";

const RESOURCES = "gateways/shop/resources/policy/ruleset/api";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "ringwall-files-"));
  await mkdir(join(root, "targets"));
  await mkdir(join(root, RESOURCES), { recursive: true });
  await writeFile(
    join(root, "targets/prod.yaml"),
    "schema_version: 1\ngateway: shop\nenvironment: prod\n",
  );
  await writeFile(join(root, RESOURCES, "ruleset.yaml"), "kind: Ruleset\n");
  await writeFile(join(root, "outside.yaml"), "kind: Ruleset\n");
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

describe("readInput", () => {
  it("ends at the limit where a device never ends", async () => {
    await expect(readInput("/dev/zero")).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("at most 16777216 are allowed"),
    });
  });

  it("reads a pipe to its end", async () => {
    const pipe = join(root, "pipe");
    execFileSync("mkfifo", [pipe]);
    const [bytes] = await Promise.all([readInput(pipe), writeFile(pipe, "kind: Ruleset\n")]);
    expect(Buffer.from(bytes).toString()).toBe("kind: Ruleset\n");
  });
});

describe("filesOfRepo", () => {
  it("gives the layer and the path of each file", async () => {
    expect(await filesOfRepo(root, "prod")).toMatchObject([
      { layer: "core", path: "policy/ruleset/api/ruleset.yaml" },
    ]);
  });

  it("refuses a link, which would look applied though nobody reads it", async () => {
    await rm(join(root, RESOURCES, "ruleset.yaml"));
    await symlink(join(root, "outside.yaml"), join(root, RESOURCES, "ruleset.yaml"));
    await expect(filesOfRepo(root, "prod")).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("ruleset.yaml is a symbolic link"),
    });
  });

  it("says where a target that is no YAML is wrong", async () => {
    await writeFile(join(root, "targets/prod.yaml"), "gateway: [shop\n");
    await expect(filesOfRepo(root, "prod")).rejects.toMatchObject({
      code: "invalid",
      details: { findings: [{ file: "targets/prod.yaml" }] },
    });
  });
});

describe("filesOf", () => {
  it("refuses a link that leads out of the directory", async () => {
    await mkdir(join(root, "flat"));
    await symlink(join(root, "outside.yaml"), join(root, "flat/a.yaml"));
    await expect(filesOf(join(root, "flat"))).rejects.toMatchObject({ code: "invalid" });
  });

  it("reads a mounted ConfigMap, whose names are links to files beside them, once", async () => {
    await mkdir(join(root, "flat/..2026"), { recursive: true });
    await writeFile(join(root, "flat/..2026/a.yaml"), "kind: Ruleset\n");
    await symlink("..2026", join(root, "flat/..data"));
    await symlink("..data/a.yaml", join(root, "flat/a.yaml"));
    expect(await filesOf(join(root, "flat"))).toMatchObject([
      { file: join(root, "flat/..2026/a.yaml") },
    ]);
  });
});
