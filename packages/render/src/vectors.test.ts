import { readFileSync } from "node:fs";
import { toJson } from "@bufbuild/protobuf";
import { WorkloadPolicySchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { admit } from "./admission/admit.ts";
import { renderAll } from "./full/render-steps.ts";
import type { Configuration, InventorySpec, ModeName, WorkloadSpec } from "./model.ts";

interface VectorWorkload {
  readonly id: string;
  readonly labels: Record<string, string>;
  readonly addresses: string[];
  readonly mode?: string;
}

interface Vector {
  readonly id: string;
  readonly fn: string;
  readonly in: Pick<Configuration, "rulesets" | "services" | "addressGroups"> & {
    readonly workloads: VectorWorkload[];
  };
  readonly want: unknown;
}

const file = new URL("../../../test/vectors/rendered.jsonl", import.meta.url);
const vectors = readFileSync(file, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line): Vector => JSON.parse(line));

const MODES: Readonly<Record<string, ModeName>> = {
  ENFORCEMENT_MODE_VISIBILITY: "visibility",
  ENFORCEMENT_MODE_SIMULATION: "simulation",
  ENFORCEMENT_MODE_ENFORCED: "enforced",
};

function configurationOf(vector: Vector): Configuration {
  const { rulesets, services, addressGroups, workloads = [] } = vector.in;
  const inventory = workloads.flatMap(({ id, mode = "" }): InventorySpec[] => {
    const name = MODES[mode];
    return name === undefined ? [] : [{ name: id, workload: id, mode: name }];
  });
  return { rulesets, services, addressGroups, inventory, routes: [] };
}

function renderVector(vector: Vector): unknown {
  const workloads = vector.in.workloads.map(
    ({ id, labels, addresses }): WorkloadSpec => ({
      id,
      labels,
      addresses,
      rows: [],
      outbounds: [],
      presence: "live",
      enforced: false,
    }),
  );
  const outcomes = renderAll(configurationOf(vector), workloads);
  return Object.fromEntries(
    Array.from(outcomes, ([id, outcome]) => [
      id,
      "policy" in outcome ? toJson(WorkloadPolicySchema, outcome.policy) : outcome,
    ]),
  );
}

describe("render vectors", () => {
  it.each(vectors.filter(({ fn }) => fn === "render.policies"))("renders $id", (vector) => {
    expect(renderVector(vector)).toEqual(vector.want);
  });

  it.each(vectors.filter(({ fn }) => fn === "render.admit"))("admits $id", (vector) => {
    const findings = admit(configurationOf(vector)).map(({ path, rule }) => ({ path, rule }));
    expect(findings).toEqual(vector.want);
  });
});
