import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { bodyDigest, canonical } from "@ringwall/rendered";
import { EnforcementMode, Protocol, WorkloadPolicySchema } from "@ringwall/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FileBackend } from "./file-backend.ts";
import { nftChecker } from "./nft-check.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "ringwall-file-"));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

function policy(...peers: string[]) {
  return canonical(
    create(WorkloadPolicySchema, {
      mode: EnforcementMode.ENFORCED,
      inboundRules: [{ ruleId: "r/tcp", peerCidrs: peers, protocol: Protocol.TCP }],
    }),
  );
}

function backend(binary?: string): FileBackend {
  return new FileBackend({
    path: join(directory, "ringwall.nft"),
    compile: {},
    ...(binary === undefined ? {} : { checker: nftChecker(binary) }),
  });
}

describe("FileBackend", () => {
  it("writes the script that it would load, and what nft says", async () => {
    const files = backend(join(directory, "no-such-nft"));
    expect((await files.check(policy("10.0.0.1/32"))).ok).toBe(true);
    await files.install(policy("10.0.0.1/32"));
    const script = await readFile(join(directory, "ringwall.nft"), "utf8");
    expect(script).toContain("10.0.0.1");
    expect(await readFile(join(directory, "ringwall.nft.check"), "utf8")).toContain("not checked");
    expect(await files.current()).toBe(bodyDigest(policy("10.0.0.1/32")));
  });

  it("refuses a policy that can't be expressed and leaves the file as it was", async () => {
    const files = backend();
    await files.install(policy("10.0.0.1/32"));
    const result = await files.check(policy("not an address"));
    expect(result).toEqual({
      ok: false,
      detail: 'peer "not an address" of rule "r/tcp" is not a CIDR',
    });
    expect(await files.current()).toBe(bodyDigest(policy("10.0.0.1/32")));
  });

  it("passes on what nft says about a script that it refuses", async () => {
    const nft = join(directory, "nft");
    await writeFile(nft, "#!/bin/sh\ncat >/dev/null\necho 'Error: no' >&2\nexit 1\n", {
      mode: 0o755,
    });
    const result = await backend(nft).check(policy("10.0.0.1/32"));
    expect(result).toEqual({ ok: false, detail: "Error: no" });
  });

  it("repairs a file that was changed and counts it", async () => {
    const files = backend();
    await files.install(policy("10.0.0.1/32"));
    expect((await files.drift(policy("10.0.0.1/32"))).repaired).toBe(0);
    await writeFile(join(directory, "ringwall.nft"), "flush ruleset\n");
    expect((await files.drift(policy("10.0.0.1/32"))).repaired).toBe(1);
    expect((await files.drift(policy("10.0.0.1/32"))).repaired).toBe(0);
  });

  it("takes everything away again", async () => {
    const files = backend();
    await files.install(policy("10.0.0.1/32"));
    await files.remove();
    expect(await files.current()).toBeUndefined();
  });
});
