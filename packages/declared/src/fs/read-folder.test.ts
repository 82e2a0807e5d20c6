import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../limits.ts";
import { readFolder } from "./read-folder.ts";

describe("readFolder", () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "declared-read-"));
    await mkdir(join(root, "a/b"), { recursive: true });
    await writeFile(join(root, "a/b/file"), "x");
  });

  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  const refusal = (part: string) =>
    expect.objectContaining({ code: "transport", message: expect.stringContaining(part) });

  it("reads files in byte order, and a folder that is not there as empty", async () => {
    await writeFile(join(root, "a/\u{1F600}"), "1");
    await writeFile(join(root, "a/\uff5e"), "2");
    const { tree } = await readFolder(root);
    expect([...tree.keys()]).toEqual(["a/b/file", "a/\uff5e", "a/\u{1F600}"]);
    expect((await readFolder(join(root, "absent"))).tree.size).toBe(0);
  });

  it("refuses a root that is a file or a link", async () => {
    await expect(readFolder(join(root, "a/b/file"))).rejects.toEqual(refusal("is not a folder"));
    await symlink(join(root, "a"), join(root, "link"));
    await expect(readFolder(join(root, "link"))).rejects.toEqual(refusal("links are not followed"));
  });

  it("refuses links and special files", async () => {
    await symlink("file", join(root, "a/b/link"));
    await expect(readFolder(root)).rejects.toEqual(refusal("a/b/link is a symbolic link"));
    await rm(join(root, "a/b/link"));
    execFileSync("mkfifo", [join(root, "a/pipe")]);
    await expect(readFolder(root)).rejects.toEqual(refusal("a/pipe is a special file"));
  });

  it("refuses a name that is not UTF-8", async () => {
    const name = Buffer.concat([Buffer.from(`${root}/a/`), Buffer.from([0x66, 0xff])]);
    await writeFile(name, "x");
    await expect(readFolder(root)).rejects.toEqual(refusal('the name "f?" is not UTF-8'));
  });

  it("refuses a file above the limit, and tells actual and allowed size", async () => {
    const size = LIMITS.fileBytes + 1;
    await writeFile(join(root, "a/large"), "");
    await truncate(join(root, "a/large"), size);
    const message = `${size} bytes; at most ${LIMITS.fileBytes} are allowed`;
    await expect(readFolder(root)).rejects.toEqual(refusal(message));
  });

  it("does not look at what is left out", async () => {
    await symlink("file", join(root, "a/b/link"));
    const leaveOut = (path: string) => path === "a/b/link";
    expect([...(await readFolder(root, { leaveOut })).tree.keys()]).toEqual(["a/b/file"]);
  });

  it("has another fingerprint after a write", async () => {
    const before = await readFolder(root);
    expect((await readFolder(root)).fingerprint).toBe(before.fingerprint);
    await writeFile(join(root, "a/b/file"), "yy");
    expect((await readFolder(root)).fingerprint).not.toBe(before.fingerprint);
  });
});
