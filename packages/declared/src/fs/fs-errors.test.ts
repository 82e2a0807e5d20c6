import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Content } from "../tree/content.ts";
import { transportError, writeError } from "./fs-errors.ts";
import { writeRepo } from "./repo.ts";

const withCode = (code: string) => Object.assign(new Error("a system error"), { code });

describe("errors of the file system", () => {
  it("do not take a read-only file system, which ends a mkdir with ENOENT, for a change", () => {
    expect(writeError("repo/targets", withCode("ENOENT")).message).toContain("read-only");
    expect(writeError("repo/targets", withCode("EROFS")).message).toContain("read-only");
    expect(transportError("repo/a", withCode("ENOENT")).message).toContain("changed while");
  });

  it("are a package's own where a file stands in the way of a repo", async () => {
    const root = await mkdtemp(join(tmpdir(), "declared-errors-"));
    await mkdir(join(root, "repo"));
    await writeFile(join(root, "repo/gateways"), "");
    const tree = new Map([["resources/policy/ruleset/a/ruleset.yaml", Content.ofText("x")]]);
    const write = { gateway: "shop", environment: "prod", tree };
    await expect(writeRepo(join(root, "repo"), write)).rejects.toMatchObject({ code: "transport" });
    await rm(root, { recursive: true });
  });
});
