import { create } from "@bufbuild/protobuf";
import { type Inputs, InputsSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { fromHex } from "../context.ts";
import { isBelow } from "../inputs.ts";
import { Evidence } from "./evidence.ts";

const inputs = (generation: number, config: number, registry: number): Inputs =>
  create(InputsSchema, {
    generation: BigInt(generation),
    configSequence: BigInt(config),
    commitId: fromHex("07".repeat(32)),
    registryRevision: BigInt(registry),
  });

describe("isBelow", () => {
  type Numbers = [number, number, number];
  it.each<[Numbers, Numbers, boolean]>([
    [[1, 5, 5], [2, 1, 1], true],
    [[2, 1, 1], [1, 5, 5], false],
    [[1, 4, 9], [1, 5, 5], true],
    [[1, 9, 4], [1, 5, 5], true],
    [[1, 5, 5], [1, 5, 5], false],
    [[1, 6, 5], [1, 5, 5], false],
  ])("compares %j with %j by generation first", (own, last, wanted) => {
    expect(isBelow(inputs(...own), inputs(...last))).toBe(wanted);
  });
});

describe("Evidence", () => {
  it("keeps each claim once and drops only what was judged", () => {
    const evidence = new Evidence();
    evidence.add({ stream: "VERSIONS", subject: "a", inputs: inputs(1, 1, 1) });
    evidence.add({ stream: "VERSIONS", subject: "b", inputs: inputs(1, 1, 1) });
    const judged = [...evidence.claims];
    evidence.add({ stream: "VERSIONS", subject: "c", inputs: inputs(1, 2, 1) });
    evidence.drop(judged);
    expect([...evidence.claims].map(({ subject }) => subject)).toEqual(["c"]);
  });

  it("lets the last record of a subject speak for it, as an operator's acceptance does", () => {
    const evidence = new Evidence();
    evidence.add({ stream: "VERSIONS", subject: "rw.version.0", inputs: inputs(1, 7, 1) });
    evidence.add({ stream: "VERSIONS", subject: "rw.version.0", inputs: inputs(1, 8, 1) });
    expect([...evidence.claims].map(({ inputs: named }) => named.configSequence)).toEqual([8n]);
  });

  it("takes nothing from records that it can't read", () => {
    const evidence = new Evidence();
    const payload = new Uint8Array([0xff]);
    evidence.take("VERSIONS", { subject: "x", sequence: 1, payload, headers: {}, timeUnixMs: 0 });
    expect(evidence.isEmpty).toBe(true);
  });
});
