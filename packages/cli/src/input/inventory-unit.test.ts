import type { Configuration } from "@ringwall/render";
import { describe, expect, it } from "vitest";
import type { LiveTree } from "../live/tree.ts";
import { editUnit, inventoryPath, newUnit, ownUnit } from "./inventory-unit.ts";

const EMPTY: Configuration = {
  rulesets: [],
  services: [],
  addressGroups: [],
  routes: [],
  inventory: [],
};

function treeOf(...files: readonly ["core" | "environment", string][]): LiveTree {
  return {
    head: undefined,
    environment: "prod",
    files: files.map(([layer, path]) => ({ layer, path, sha256: new Uint8Array(32), size: 1 })),
  };
}

describe("editUnit", () => {
  it("sets labels and mode and keeps comments", () => {
    const text = "kind: Inventory\nname: db-1 # the primary\nworkload: db-1\n";
    expect(editUnit(text, { labels: { role: "db" }, mode: "enforced" })).toBe(
      "kind: Inventory\nname: db-1 # the primary\nworkload: db-1\nlabels:\n  role: db\nmode: enforced\n",
    );
  });

  it("replaces and removes labels; an empty map is dropped", () => {
    const text = "kind: Inventory\nname: a\nworkload: a\nlabels:\n  role: db\n  tier: one\n";
    expect(editUnit(text, { labels: { role: "web" }, removeLabels: ["tier"] })).toBe(
      "kind: Inventory\nname: a\nworkload: a\nlabels:\n  role: web\n",
    );
    expect(editUnit(text, { removeLabels: ["tier", "role"] })).toBe(
      "kind: Inventory\nname: a\nworkload: a\n",
    );
  });

  it("quotes values that YAML would read as something else", () => {
    expect(editUnit(newUnit("a", "a"), { labels: { version: "1.0", on: "true" } })).toBe(
      'kind: Inventory\nname: a\nworkload: a\nlabels:\n  version: "1.0"\n  on: "true"\n',
    );
  });
});

describe("ownUnit", () => {
  it("takes the environment's copy of the workload's unit when there is one", () => {
    const path = inventoryPath("db");
    const configuration = { ...EMPTY, inventory: [{ name: "db", workload: "db-1" }] };
    const tree = treeOf(["core", path], ["environment", path]);
    expect(ownUnit(tree, configuration, "db-1")).toMatchObject({
      name: "db",
      layer: "environment",
    });
    expect(ownUnit(treeOf(["core", path]), configuration, "db-1").layer).toBe("core");
  });

  it("creates one in the environment's layer under a name that is free", () => {
    expect(ownUnit(treeOf(), EMPTY, "db-1")).toMatchObject({
      name: "db-1",
      layer: "environment",
      file: undefined,
    });
    const configuration = { ...EMPTY, inventory: [{ name: "db-1", selector: { a: ["b"] } }] };
    expect(ownUnit(treeOf(), configuration, "db-1").name).toBe("workload-db-1");
  });
});
