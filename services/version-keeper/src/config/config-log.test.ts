import { create } from "@bufbuild/protobuf";
import { ConfigCommitSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { fromHex } from "../log/hex.ts";
import { accept, configWith, takeRecord } from "../testing/config-records.ts";
import { commitId } from "./commit-codec.ts";
import { ConfigLog } from "./config-log.ts";

describe("ConfigLog", () => {
  it("does not count a commit that does not follow the head, and goes on behind it", () => {
    const config = configWith(2);
    const head = config.head?.id;
    const stray = create(ConfigCommitSchema, { author: "b" });
    stray.id = commitId(stray);
    takeRecord(config, 3, { case: "commit", value: stray });
    expect(config.problem).toBeUndefined();
    expect(config.head?.id).toBe(head);
    expect(config.strays).toBe(1);
    expect(config.lastSequence).toBe(3);
    accept(config, 4, { generation: 2_000n });
    expect(config.generation).toBe(2_000n);
  });

  it("stops at a damaged record", () => {
    const config = new ConfigLog();
    const damaged = create(ConfigCommitSchema, { author: "b", id: new Uint8Array(32) });
    takeRecord(config, 1, { case: "commit", value: damaged });
    expect(config.problem).toMatch(/damaged/);
  });

  it("waits for a change list, in order", () => {
    const config = configWith(1);
    const long = create(ConfigCommitSchema, {
      parent: fromHex(config.head?.id ?? ""),
      changesBlob: new Uint8Array(32).fill(1),
    });
    long.id = commitId(long);
    takeRecord(config, 2, { case: "commit", value: long });
    accept(config, 3, { generation: 2_000n });
    expect(config.pending).toEqual({ sequence: 2, changesBlob: "01".repeat(32) });
    expect(config.generation).toBe(1_000n);
    config.supply({ puts: [], deletes: [] });
    expect(config.pending).toBeUndefined();
    expect(config.lastSequence).toBe(3);
    expect(config.generation).toBe(2_000n);
  });
});
