import { describe, expect, it } from "vitest";
import { validateRoute } from "./index.ts";

const GOOD = {
  sources: [{ service: "web", version: "*" }],
  destinations: [{ service: "redis" }],
  split: [
    { weight: 0, tags: { service: "redis", version: "v1" } },
    { weight: 1, tags: { service: "redis", version: "v2" } },
  ],
};

describe("validateRoute", () => {
  it("admits a route with one split of weight 0", () => {
    expect(validateRoute(GOOD)).toEqual([]);
  });

  it("finds everything at once, in order", () => {
    const findings = validateRoute({
      sources: [{ "": "x" }],
      destinations: [{ service: "redis", version: "v1" }],
      split: [{ weight: 0, tags: { service: "" } }],
    });
    expect(findings.map(({ path, code }) => [path, code])).toEqual([
      ["sources[0]", "empty"],
      ["sources[0]", "no-service"],
      ["destinations[0]", "only-service"],
      ['destinations[0]["version"]', "tag-forbidden"],
      ['split[0].tags["service"]', "empty"],
      ["split", "weight-zero"],
    ]);
    expect(findings[5]?.message).toBe(
      "split has weights that sum to 0; give at least one split a weight above 0",
    );
  });

  it("does not take an inherited member for the service tag", () => {
    const tags = Object.create({ service: "redis" });
    expect(validateRoute({ ...GOOD, sources: [tags] }).map(({ code }) => code)).toEqual([
      "need-tag",
      "no-service",
    ]);
  });
});
