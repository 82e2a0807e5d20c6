import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Inputs, InputsSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { ConfigLog } from "../config/config-log.ts";
import { fromHex } from "../log/hex.ts";
import { accept, configWith } from "../testing/config-records.ts";
import { type HeldFacts, judgeHeld } from "./judge.ts";

const REGISTRY = { createdUnixNs: 5n, firstSequence: 1, lastSequence: 100 };

function inputsOf(log: ConfigLog, change: MessageInitShape<typeof InputsSchema> = {}): Inputs {
  return create(InputsSchema, {
    generation: log.generation,
    configSequence: BigInt(log.head?.sequence ?? 0),
    commitId: fromHex(log.head?.id ?? ""),
    registryRevision: 10n,
    ...change,
  });
}

function judge(config: ConfigLog, change: Partial<HeldFacts> = {}) {
  return judgeHeld({
    config,
    configProblem: undefined,
    environment: "prod",
    head: { kind: "admitted" },
    registry: REGISTRY,
    replaced: new Set(),
    named: [],
    ...change,
  });
}

describe("judgeHeld", () => {
  it("is clear when everything that is named is there", () => {
    const config = configWith(2);
    const named = [{ where: "VERSIONS", inputs: inputsOf(config), registryCreatedUnixNs: 5n }];
    expect(judge(config, { named })).toEqual({ kind: "clear" });
  });

  it("is held without a commit, and a commit may lift that", () => {
    expect(judge(new ConfigLog())).toMatchObject({ kind: "held", byCommit: true });
  });

  it.each([
    ["a later commit", { configSequence: 3n }],
    ["another commit at its place", { commitId: new Uint8Array(32).fill(9) }],
    ["a later generation", { generation: 1_001n }],
    ["a later revision of REGISTRY", { registryRevision: 101n }],
  ])("is held when a record names %s", (_what, change) => {
    const config = configWith(2);
    const named = [{ where: "VERSIONS", inputs: inputsOf(config, change) }];
    expect(judge(config, { named })).toMatchObject({ kind: "held", byCommit: false });
  });

  it("is held when REGISTRY was created anew, until another generation was accepted", () => {
    const config = configWith(1);
    const named = [{ where: "a", inputs: inputsOf(config), registryCreatedUnixNs: 4n }];
    expect(judge(config, { named })).toMatchObject({ reason: /created anew/ });
    accept(config, 2, { generation: 1_001n });
    expect(judge(config, { named })).toEqual({ kind: "clear" });
  });

  it("is held when REGISTRY grew past a named revision again with another record", () => {
    const config = configWith(1);
    const inputs = inputsOf(config, { registryTimeUnixMs: 777n });
    const named = [{ where: "VERSIONS", inputs }];
    expect(judge(config, { named })).toEqual({ kind: "clear" });
    const replaced = new Set(["10 777"]);
    expect(judge(config, { named, replaced })).toMatchObject({
      kind: "held",
      byCommit: false,
      reason: /another record/,
    });
    accept(config, 2, { generation: 1_001n });
    expect(judge(config, { named, replaced })).toEqual({ kind: "clear" });
  });

  it("lets go of a lost commit once it was overruled", () => {
    const config = configWith(1);
    const lost = inputsOf(config, { configSequence: 7n, commitId: new Uint8Array(32).fill(3) });
    const named = [{ where: "VERSIONS", inputs: lost }];
    expect(judge(config, { named })).toMatchObject({ kind: "held" });
    const { generation, configSequence, commitId } = lost;
    const $typeName = "ringwall.v1.OverruledCommit" as const;
    const overruled = [{ $typeName, generation, configSequence, commitId }];
    accept(config, 2, { generation: generation + 1n, overruled });
    expect(judge(config, { named })).toEqual({ kind: "clear" });
  });

  it("is held for a head that can't be read, and undecided while it is being read", () => {
    const config = configWith(1);
    const bad = { kind: "bad", reason: "a blob is missing" } as const;
    expect(judge(config, { head: bad })).toMatchObject({ kind: "held", byCommit: true });
    expect(judge(config, { head: { kind: "pending" } })).toEqual({ kind: "pending" });
  });

  it("is held in a service of another environment", () => {
    expect(judge(configWith(1), { environment: "staging" })).toMatchObject({
      reason:
        'this control plane serves environment "prod", this instance was started for "staging"',
    });
  });
});
