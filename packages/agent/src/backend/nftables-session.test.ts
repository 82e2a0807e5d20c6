import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NftSession } from "./nftables-session.ts";

/** Answers as `nft -i` does to what it is asked for; `nft -f -` leaves its script beside it. */
const NFT = `#!/bin/sh
case "$*" in
  *-i*)
    while read -r line; do
      case "$line" in
        "list table"*) printf 'Error: No such file or directory\\n%s\\n           ^^^^\\n' "$line" >&2 ;;
        include*) cat load.nft > "$(dirname "$0")/included" ;;
      esac
    done ;;
  *) cat > "$(dirname "$0")/piped" ;;
esac
`;

let directory: string;
let session: NftSession;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "ringwall-nft-"));
  await writeFile(join(directory, "nft"), NFT, { mode: 0o755 });
});

afterEach(async () => {
  session.close();
  await rm(directory, { recursive: true });
});

function open(state: string): NftSession {
  const command = [join(directory, "nft")];
  return new NftSession({ command, directory: join(directory, state), check: false });
}

describe("NftSession", () => {
  it("hands a script over in a file of its directory", async () => {
    session = open("state");
    expect(await session.run("add table inet t\n")).toEqual({ ok: true, words: "" });
    expect(await readFile(join(directory, "included"), "utf8")).toBe("add table inet t\n");
  });

  it("puts rules in force where the directory can't take a file, as on a full disk", async () => {
    session = open("state");
    await mkdir(join(directory, "state", "load.nft"), { recursive: true });
    expect(await session.run("add table inet t\n")).toEqual({ ok: true, words: "" });
    expect(await readFile(join(directory, "piped"), "utf8")).toBe("add table inet t\n");
  });

  it("puts rules in force where the directory can't be made", async () => {
    await writeFile(join(directory, "in-the-way"), "");
    session = open("in-the-way/state");
    expect(await session.run("add table inet t\n")).toEqual({ ok: true, words: "" });
    expect(await readFile(join(directory, "piped"), "utf8")).toBe("add table inet t\n");
  });
});
