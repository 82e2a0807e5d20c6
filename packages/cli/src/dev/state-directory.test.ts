import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdsPolicies, openStateDirectory } from "./state-directory.ts";

describe("openStateDirectory", () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "ringwall-state-"));
  });

  afterEach(async () => {
    await chmod(root, 0o700);
    await rm(root, { recursive: true });
  });

  it("makes its parts and keeps what is there", async () => {
    {
      await using state = await openStateDirectory(join(root, "dev"), false);
      expect(await holdsPolicies(state.agents)).toBe(false);
      await writeFile(join(state.agents, "policy"), "x");
    }
    await using again = await openStateDirectory(join(root, "dev"), false);
    expect(await holdsPolicies(again.agents)).toBe(true);
  });

  it("begins anew when asked to", async () => {
    await using state = await openStateDirectory(join(root, "dev"), false);
    await writeFile(join(state.agents, "policy"), "x");
    await using fresh = await openStateDirectory(join(root, "dev"), true);
    expect(await holdsPolicies(fresh.agents)).toBe(false);
  });

  it("refuses a directory that a running process uses and takes over a dead one's", async () => {
    await writeFile(join(root, "running.pid"), `${process.ppid}\n`);
    await expect(openStateDirectory(root, false)).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining(String(process.ppid)),
    });
    await writeFile(join(root, "running.pid"), "4194305\n");
    await using state = await openStateDirectory(root, false);
    expect((await stat(state.nats)).isDirectory()).toBe(true);
  });

  it("says what to do about a file in its place", async () => {
    await writeFile(join(root, "file"), "");
    await expect(openStateDirectory(join(root, "file"), false)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("not a directory"),
    });
  });

  it.skipIf(process.getuid?.() === 0)("says when it has no permission", async () => {
    await chmod(root, 0o500);
    await expect(openStateDirectory(join(root, "dev"), false)).rejects.toMatchObject({
      code: "denied",
      message: expect.stringContaining("no permission"),
    });
  });
});
