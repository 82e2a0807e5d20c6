import { execFile } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DeclaredError } from "../errors.ts";
import { Content } from "../tree/content.ts";
import { treeDigest } from "../tree/tree.ts";
import { DataDirectoryReader } from "./data-directory.ts";
import { replaceFolder } from "./folder-swap.ts";
import { readRepo, readRepoTarget } from "./repo.ts";
import { writeState } from "./testing/write-state.ts";

const SCRIPT = fileURLToPath(new URL("testing/write-and-die.ts", import.meta.url));

/** Writes in a process of its own that is killed at a step; gives the signal that it ended by. */
function writeKilled(kind: string, folder: string, text: string, step: number) {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, kind, folder, text, String(step)], (error) => {
      resolve(error?.signal ?? error ?? "no signal");
    });
  });
}

describe("a write that is killed at any step", () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "declared-swap-"));
    await mkdir(join(root, "targets"), { recursive: true });
    await writeFile(
      join(root, "targets/prod.yaml"),
      "schema_version: 1\ngateway: gw1\nenvironment: prod\nos: linux\n",
    );
    await mkdir(join(root, "gateways/gw1/modes/test/resources"), { recursive: true });
    await writeFile(join(root, "gateways/gw1/manifest.yaml"), "schema_version: 1\ntypes: []\n");
    await writeFile(join(root, "gateways/gw1/modes/test/resources/kept"), "other environment's");
    await mkdir(join(root, "config/resources/core"), { recursive: true });
    await mkdir(join(root, "config/resources/prod"), { recursive: true });
    await writeFile(join(root, "config/resources/prod/config-mode.json"), "{}");
  });

  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  async function repoState(): Promise<string> {
    const target = await readRepoTarget(root, "prod");
    if (target === undefined) throw new Error("no target");
    return treeDigest((await readRepo(root, target)).tree);
  }

  async function dataState(): Promise<string> {
    const { live, ledger } = await new DataDirectoryReader(root, "prod").read();
    const owned = ledger?.files.every((path) => live.environment.has(path)) ?? true;
    return `${treeDigest(live.environment)} ${ledger?.renderSha256} ${owned}`;
  }

  it.each([
    ["repo", repoState, "gateways"],
    ["data", dataState, "config"],
  ])(
    "leaves a %s the old or the new one, and the next write works",
    async (kind, state, beside) => {
      await writeState(kind, root, "old");
      const old = await state();
      let steps = 0;
      await writeState(kind, root, "new", () => {
        steps += 1;
      });
      const now = await state();
      expect(steps).toBeGreaterThanOrEqual(10);
      const seen = new Set<string>();
      for (let step = 1; step <= steps; step += 1) {
        await writeState(kind, root, "old");
        expect(await writeKilled(kind, root, "new", step)).toBe("SIGKILL");
        const after = await state();
        expect([old, now]).toContain(after);
        seen.add(after);
        await writeState(kind, root, "new");
        expect(await state()).toBe(now);
      }
      expect(seen).toEqual(new Set([old, now]));
      expect((await readdir(join(root, beside))).filter((name) => name.startsWith("."))).toEqual(
        [],
      );
      expect(await readdir(join(root, "gateways/gw1/modes/test/resources"))).toEqual(["kept"]);
    },
    60_000,
  );
});

describe("replaceFolder", () => {
  let root: string;
  const files = new Map([["a/new", Content.ofText("new")]]);

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "declared-replace-"));
    await mkdir(join(root, "target"));
    await writeFile(join(root, "target/old"), "old");
  });

  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  const folder = () => ({ target: join(root, "target"), beside: join(root, ".target") });

  it("lets nobody else write at the same time", async () => {
    const second: Promise<void>[] = [];
    await replaceFolder(folder(), {
      files,
      leaveOut: () => true,
      observe: (step) => {
        if (step !== "staging") return;
        const other = replaceFolder(folder(), { files, leaveOut: () => false });
        second.push(expect(other).rejects.toThrow(`process ${process.pid} writes there now`));
      },
    });
    expect(second).toHaveLength(1);
    await Promise.all(second);
    expect(await readdir(root)).toEqual(["target"]);
    expect(await readdir(join(root, "target"))).toEqual(["a"]);
  });

  it("leaves everything as it was when the check or a write fails", async () => {
    const changed = new DeclaredError("changed", "someone else wrote");
    const check = () => {
      throw changed;
    };
    await expect(replaceFolder(folder(), { files, leaveOut: () => true, check })).rejects.toBe(
      changed,
    );
    const impossible = new Map([
      ["x", Content.ofText("")],
      ["x/y", Content.ofText("")],
    ]);
    await expect(
      replaceFolder(folder(), { files: impossible, leaveOut: () => true }),
    ).rejects.toMatchObject({ code: "transport" });
    expect(await readdir(root)).toEqual(["target"]);
    expect(await readdir(join(root, "target"))).toEqual(["old"]);
  });

  it("keeps links and times of what it does not write", async () => {
    await symlink("old", join(root, "target/link"));
    const before = await lstat(join(root, "target/old"));
    await replaceFolder(folder(), { files, leaveOut: () => false });
    const after = await lstat(join(root, "target/old"));
    expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
    expect(await readlink(join(root, "target/link"))).toBe("old");
  });
});
