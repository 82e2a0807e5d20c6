import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LockTaken, takeLock } from "./lock-file.ts";
import { isRunning, processName } from "./process-name.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "ringwall-lock-"));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

const BOOT = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
const lockFile = () => join(directory, "lock");

describe("a lock file", () => {
  it("is held by one at a time, and leaves nothing behind", async () => {
    const unlock = await takeLock(lockFile());
    await expect(takeLock(lockFile())).rejects.toMatchObject({ holder: process.pid });
    expect(await readdir(directory)).toEqual(["lock"]);
    await unlock();
    expect(await readdir(directory)).toEqual([]);
    await (await takeLock(lockFile()))();
  });

  it("names the process that has it", async () => {
    await writeFile(lockFile(), await processName(process.ppid));
    await expect(takeLock(lockFile())).rejects.toThrow(`is held by process ${process.ppid}`);
  });

  it("is held by a process of which only the id is known", async () => {
    await writeFile(lockFile(), `${process.ppid}\n`);
    await expect(takeLock(lockFile())).rejects.toMatchObject({ holder: process.ppid });
  });

  it.each([
    ["another boot", `${process.pid} 1 00000000-0000-0000-0000-000000000000`],
    ["a process that is gone", "4194304 1 x"],
    ["a process whose id was given again", `${process.ppid} 1 ${BOOT}`],
    ["nothing, written by half", ""],
  ])("is taken over from %s", async (_, holder) => {
    await writeFile(lockFile(), holder);
    const unlock = await takeLock(lockFile());
    expect(await readFile(lockFile(), "utf8")).toMatch(new RegExp(`^${process.pid} `));
    await unlock();
  });

  it("is taken over by exactly one of many that find it stale at once, every time", async () => {
    for (let round = 0; round < 100; round += 1) {
      await writeFile(lockFile(), `4194304 ${round} x`);
      const takers = Array.from({ length: 20 }, () => takeLock(lockFile()));
      const results = await Promise.allSettled(takers);
      const taken = results.filter((result) => result.status === "fulfilled");
      expect(taken, `round ${round}`).toHaveLength(1);
      for (const result of results) {
        if (result.status === "rejected") expect(result.reason).toBeInstanceOf(LockTaken);
      }
      expect(await readdir(directory)).toEqual(["lock"]);
      await taken[0]?.value();
    }
  });

  it("is taken over although one that was about to has ended", async () => {
    const gone = "4194304 1 x";
    await writeFile(lockFile(), gone);
    const name = createHash("sha256").update(gone).digest("hex").slice(0, 16);
    await writeFile(`${lockFile()}.${name}`, "4194304 2 x");
    const unlock = await takeLock(lockFile());
    expect(await readdir(directory)).toEqual(["lock"]);
    await unlock();
  });

  it("can't be made where there is no directory", async () => {
    await expect(takeLock(join(directory, "none", "lock"))).rejects.toMatchObject({
      code: "ENOENT",
    });
  });
});

describe("a process's name", () => {
  it("is that of a process that runs", async () => {
    expect(await isRunning(await processName(process.pid))).toBe(true);
    expect(await isRunning("0 1 x")).toBe(false);
    expect(await isRunning("")).toBe(false);
  });
});
