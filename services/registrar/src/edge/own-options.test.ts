import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { names } from "@ringwall/bus";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readsKubernetes, registrarEnv } from "./own-options.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "registrar-options-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

function read(options: Record<string, string>) {
  return registrarEnv({
    names: names(),
    instance: "one",
    environment: "prod",
    options: { scopes: "", staleAfterMs: "45000", expireAfterMs: "600000", ...options },
  }).options;
}

function file(text: string): string {
  const path = join(directory, "scopes.json");
  writeFileSync(path, text);
  return path;
}

describe("the registrar's options", () => {
  it("are read from texts", () => {
    const scopes = file('{"shop": {"services": ["shop/*"], "subnets": ["10.0.0.0/8"]}, "a": {}}');
    expect(read({ scopes, staleAfterMs: "2000" })).toEqual({
      staleAfterMs: 2_000,
      expireAfterMs: 600_000,
      scopes: { shop: { services: ["shop/*"], subnets: ["10.0.0.0/8"] }, a: {} },
    });
    expect(readsKubernetes({ kubernetes: "on" })).toBe(true);
    expect(readsKubernetes({})).toBe(false);
  });

  it.each([
    [{ staleAfterMs: "soon" }, "--stale-after-ms"],
    [{ staleAfterMs: "999" }, "--stale-after-ms"],
    [{ expireAfterMs: "45000" }, "--expire-after-ms is 45000"],
    [{ scopes: "/nowhere.json" }, "can't be read"],
  ])("%j are refused", (options, words) => {
    expect(() => read(options)).toThrow(words);
  });

  it.each([
    ["[]", "an object by namespace"],
    ["{", "can't be read"],
    ['{"shop": 1}', "scope shop must be an object"],
    ['{"shop": {"service": []}}', '"service" is unknown'],
    ['{"shop": {"services": [1]}}', "services must be a list of texts"],
    ['{"shop": {"services": ["*/x"]}}', '"*/x" is not allowed'],
    ['{"shop": {"subnets": ["10.0.0.0/99"]}}', "10.0.0.0/99"],
  ])("scopes %s are refused", (text, words) => {
    expect(() => read({ scopes: file(text) })).toThrow(words);
  });

  it("know no other way to read Kubernetes than on and off", () => {
    expect(() => readsKubernetes({ kubernetes: "yes" })).toThrow("must be on or off");
  });
});
