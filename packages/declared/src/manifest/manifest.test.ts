import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DeclaredError } from "../errors.ts";
import { IGNITION, RINGWALL } from "../profile/profiles.ts";
import { sortPaths } from "../tree/path.ts";
import { readManifest, writeManifest } from "./manifest.ts";
import { readTarget } from "./target.ts";

function failure(read: () => unknown): DeclaredError {
  try {
    read();
  } catch (error) {
    return error as DeclaredError; // what these functions throw
  }
  throw new Error("nothing was refused");
}

describe("readManifest", () => {
  it("refuses unknown and duplicate keys with line and column, all at once", () => {
    const text = "schema_version: 1\ntypes: []\ntypo: 1\ntypes:\n  - a/b\nx: 2\n";
    const { code, message, findings } = failure(() => readManifest(text));
    expect(code).toBe("manifest");
    expect(message).toMatch(/^manifest.yaml:3:1: the key typo is not known/);
    expect(findings.map(({ line, column, code: what }) => [line, column, what])).toEqual([
      [3, 1, "key-unknown"],
      [4, 1, "key-duplicate"],
      [6, 1, "key-unknown"],
    ]);
  });

  it.each([
    ["types: []\n", "schema_version is missing"],
    ["schema_version: 2\ntypes: []\n", "schema_version: must be 1"],
    ["schema_version: 1\n", "types is missing"],
    ["schema_version: 1\ntypes: [a]\n", '"a" is not module/type'],
    ["schema_version: 1\ntypes: [a/b, a/b]\n", '"a/b" comes twice'],
    ["schema_version: 1\ntypes: a/b\n", "must be a list"],
    ["- 1\n", "no mapping"],
    ["a: [\n", "manifest.yaml:"],
    ["", "no mapping"],
  ])("refuses %j", (text, part) => {
    expect(failure(() => readManifest(text)).message).toContain(part);
  });

  it("takes no key for one of the language's own", () => {
    expect(failure(() => readManifest("__proto__: 1\n")).message).toContain("is not known");
  });

  it("reads what writeManifest writes, whatever the names", () => {
    const name = fc
      .oneof(
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }),
        fc.constantFrom("null", "yes", "1", "a: b", "#x", "- y", "'", '"', "é"),
      )
      .filter((text) => !/[/\\\0]/.test(text) && text !== "." && text !== "..");
    const types = fc.uniqueArray(fc.tuple(name, name).map((parts) => parts.join("/")));
    fc.assert(
      fc.property(types, fc.uniqueArray(name), (some, providers) => {
        const read = readManifest(writeManifest(IGNITION, some, providers));
        expect(read.types).toEqual(sortPaths(some));
        expect(read.tagProviders).toEqual(sortPaths(providers));
      }),
    );
  });

  it("is written without providers where there are none", () => {
    expect(writeManifest(RINGWALL, ["policy/service"], [])).toBe(
      "schema_version: 1\ntypes:\n  - policy/service\n",
    );
  });
});

describe("readTarget", () => {
  const base = "schema_version: 1\ngateway: gw1\nenvironment: prod\n";

  it("reads every key", () => {
    const text = `${base}os: windows\nnodes: [a, b]\npath_budget: 120\nexclude_tag_providers: [x]\n`;
    expect(readTarget(text, "targets/prod.yaml", "prod")).toEqual({
      gateway: "gw1",
      environment: "prod",
      os: "windows",
      nodes: ["a", "b"],
      pathBudget: 120,
      excludeTagProviders: ["x"],
    });
  });

  it.each([
    [`${base}os: beos\n`, "prod", "os: must be linux or windows"],
    [base, "test", "environment must be test"],
    [base.replace("prod", "Core"), "Core", "uses that name for something else"],
    [base.replace("gw1", "../x"), "prod", "gateway: must be a name"],
    [`${base}path_budget: 0\n`, "prod", "path_budget: must be a whole number from 1 to 259"],
  ])("refuses %j", (text, environment, part) => {
    expect(failure(() => readTarget(text, "targets/x.yaml", environment)).message).toContain(part);
  });
});
