import { describe, expect, it } from "vitest";
import { placeOf } from "./place.ts";

describe("placeOf", () => {
  it("reads layer and path from a declared repo's layout", () => {
    expect(placeOf("/r/gateways/shop/resources/policy/service/ssh/service.yaml")).toEqual({
      layer: "core",
      path: "policy/service/ssh/service.yaml",
    });
    expect(
      placeOf("/r/gateways/shop/modes/prod/resources/policy/service/ssh/service.yaml"),
    ).toEqual({
      layer: "environment",
      environment: "prod",
      path: "policy/service/ssh/service.yaml",
    });
  });

  it("knows nothing about files elsewhere", () => {
    expect(placeOf("/r/ruleset.yaml")).toBeUndefined();
    expect(placeOf("/r/gateways/shop/manifest.yaml")).toBeUndefined();
  });
});
