import { describe, expect, it } from "vitest";
import type { InventorySpec, WorkloadSpec } from "../model.ts";
import { effectiveWorkloads } from "./effective.ts";

const WORKLOAD: WorkloadSpec = {
  id: "db-1",
  labels: { app: "db", env: "dev" },
  addresses: [],
  rows: [],
  outbounds: ["shop/log"],
  presence: "live",
  enforced: false,
};

function overlay(inventory: InventorySpec[], workload: Partial<WorkloadSpec> = {}) {
  const configuration = { rulesets: [], services: [], addressGroups: [], routes: [], inventory };
  const [effective] = effectiveWorkloads(configuration, [{ ...WORKLOAD, ...workload }]);
  if (effective === undefined) {
    throw new Error("one workload in, one out");
  }
  return effective;
}

const selecting = (name: string, rest: Partial<InventorySpec>): InventorySpec => ({
  name,
  selector: { app: ["db"] },
  ...rest,
});

describe("effectiveWorkloads", () => {
  it("leaves a workload as its source says when no unit speaks for it", () => {
    const { labels, labelOrigins, mode, modeOrigin, outbounds } = overlay([]);
    expect(labels).toEqual({ app: "db", env: "dev" });
    expect(labelOrigins).toEqual({ app: { kind: "registry" }, env: { kind: "registry" } });
    expect([mode, modeOrigin, outbounds]).toEqual([
      "visibility",
      { kind: "default" },
      ["shop/log"],
    ]);
  });

  it("lets the own unit win over selector units, and those over the source", () => {
    const { labels, labelOrigins, outbounds } = overlay([
      selecting("b", { labels: { env: "b", tier: "b", zone: "b" }, outbounds: ["shop/a"] }),
      selecting("a", { labels: { tier: "a" } }),
      { name: "z", workload: "db-1", labels: { env: "prod" }, outbounds: ["shop/z"] },
    ]);
    expect(labels).toEqual({ app: "db", env: "prod", tier: "a", zone: "b" });
    expect(labelOrigins).toEqual({
      app: { kind: "registry" },
      env: { kind: "inventory", unit: "z" },
      tier: { kind: "inventory", unit: "a" },
      zone: { kind: "inventory", unit: "b" },
    });
    expect(outbounds).toEqual(["shop/a", "shop/log", "shop/z"]);
  });

  it("matches selector units against own labels, never against what another selector unit sets", () => {
    const units: InventorySpec[] = [
      { name: "own", workload: "db-1", labels: { app: "cache" } },
      selecting("a", { labels: { x: "1" } }),
      { name: "b", selector: { app: ["cache"] }, labels: { y: "1" } },
      { name: "c", selector: { y: ["1"] }, labels: { z: "1" } },
    ];
    expect(overlay(units).labels).toEqual({ app: "cache", env: "dev", y: "1" });
  });

  it("takes the strictest mode of selector units, unless the own unit has one", () => {
    const units = [selecting("a", { mode: "visibility" }), selecting("b", { mode: "enforced" })];
    expect(overlay(units)).toMatchObject({
      mode: "enforced",
      modeOrigin: { kind: "inventory", unit: "b" },
      weaker: false,
    });
    const own: InventorySpec = { name: "own", workload: "db-1", mode: "simulation" };
    expect(overlay([...units, own])).toMatchObject({ mode: "simulation", weaker: true });
  });

  it("keeps enforced without a mode, and leaves it only by an explicit weaker one", () => {
    expect(overlay([], { enforced: true })).toMatchObject({ mode: "enforced", weaker: false });
    expect(overlay([selecting("a", { mode: "visibility" })], { enforced: true })).toMatchObject({
      mode: "visibility",
      weaker: true,
    });
  });
});
