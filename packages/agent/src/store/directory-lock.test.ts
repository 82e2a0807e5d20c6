import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockDirectory } from "./directory-lock.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "ringwall-lock-"));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

const lockFile = () => join(directory, "lock");

describe("the lock of a state directory", () => {
  it("is held by one at a time, and leaves nothing behind", async () => {
    const unlock = await lockDirectory(directory);
    await expect(lockDirectory(directory)).rejects.toMatchObject({ code: "store-in-use" });
    expect(await readdir(directory)).toEqual(["lock"]);
    await unlock();
    expect(await readdir(directory)).toEqual([]);
    await (await lockDirectory(directory))();
  });

  it("names the process that has it", async () => {
    const [, , , parent = ""] = (await readFile(`/proc/${process.pid}/stat`, "utf8")).split(" ");
    const stat = await readFile(`/proc/${parent}/stat`, "utf8");
    const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    await writeFile(lockFile(), `${parent} ${started} ${boot}`);
    await expect(lockDirectory(directory)).rejects.toThrow(`is used by process ${parent};`);
  });

  it.each([
    ["another boot", `${process.pid} 1 00000000-0000-0000-0000-000000000000`],
    ["a process that is gone", "4194304 1 x"],
    ["nothing, written by half", ""],
  ])("is taken over from %s", async (_, holder) => {
    await writeFile(lockFile(), holder);
    const unlock = await lockDirectory(directory);
    expect(await readFile(lockFile(), "utf8")).toMatch(new RegExp(`^${process.pid} `));
    await unlock();
  });

  it("is taken over by one of many that find it stale at once", async () => {
    await writeFile(lockFile(), "4194304 1 x");
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => lockDirectory(directory)),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await readdir(directory)).toEqual(["lock"]);
  });
});
