import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Dataplane,
  destinations,
  effectiveSplits,
  endpoints,
  inboundTags,
  selectorMatches,
  type Tags,
  tagsText,
} from "./index.ts";

const tags = fc.dictionary(
  fc.constantFrom("service", "version"),
  fc.constantFrom("redis", "search", "v1", "v2"),
);
const inbound = fc.record({
  address: fc.constantFrom("10.0.0.1", "fd00::1", "", "10.0.0.256", "host", "fd00::1%eth0"),
  port: fc.constantFrom(0, 1, 6379, 65_535, 65_536, 1.5),
  tags,
});

describe("endpoints", () => {
  it("gives each usable inbound that a selector of its own bucket matches exactly once", () => {
    const selectors = fc.array(fc.constantFrom<Tags>({}, { version: "*" }, { version: "v1" }), {
      minLength: 1,
      maxLength: 3,
    });
    const dataplanes = fc.array(fc.record({ inbounds: fc.array(inbound) }));
    fc.assert(
      fc.property(selectors, dataplanes, (chosen, all) => {
        const buckets = new Map([["redis", chosen.map((each) => ({ ...each, service: "redis" }))]]);
        const { byService, skipped } = endpoints(buckets, all);
        const matching = all
          .flatMap(({ inbounds }) => inbounds)
          .filter((each) => each.tags.service === "redis")
          .filter((each) => chosen.some((wanted) => selectorMatches(wanted, each.tags)));
        const usable = matching.filter(
          ({ address, port }) =>
            ["10.0.0.1", "fd00::1"].includes(address) && [1, 6379, 65_535].includes(port),
        );
        expect(byService.get("redis") ?? []).toEqual(usable);
        expect(skipped).toBe(matching.length - usable.length);
        expect(byService.has("search")).toBe(false);
      }),
    );
  });

  it("keeps to the mesh", () => {
    const at = (mesh: string, address: string) => ({
      mesh,
      inbounds: [{ address, port: 80, tags: { service: "web" } }],
    });
    const all = [at("m1", "10.0.0.1"), at("default", "10.0.0.2")];
    const buckets = new Map([["web", [{ service: "web" }]]]);
    const addresses = (mesh?: string) =>
      endpoints(buckets, all, mesh)
        .byService.get("web")
        ?.map(({ address }) => address);
    expect(addresses("m1")).toEqual(["10.0.0.1"]);
    expect(addresses()).toEqual(["10.0.0.2"]);
  });

  it("hands back the inbound itself, with whatever else it carries", () => {
    const served = { address: "fd00::1", port: 80, tags: { service: "web" }, weight: 7 };
    const buckets = new Map([["web", [{ service: "web" }]]]);
    const { byService } = endpoints(buckets, [{ inbounds: [served] }]);
    expect(byService.get("web")?.[0]).toBe(served);
  });
});

describe("destinations", () => {
  it("skips and counts a split without a service tag", () => {
    const caller: Dataplane = { inbounds: [], outbounds: ["redis"] };
    const split = [
      { weight: 1, tags: { version: "v1" } },
      { weight: 1, tags: { service: "redis", version: "v2" } },
    ];
    const found = destinations(caller.outbounds, new Map([["redis", { split }]]));
    expect(found.skipped).toBe(1);
    expect([...found.buckets]).toEqual([["redis", [{ service: "redis", version: "v2" }]]]);
  });

  it("leads to the service itself without a selection", () => {
    expect([...destinations(["__proto__"], new Map()).buckets]).toEqual([
      ["__proto__", [{ service: "__proto__" }]],
    ]);
  });
});

describe("effectiveSplits", () => {
  it("drops weight 0 and adds the weights of equal keys", () => {
    const split = [
      { weight: 10, tags: { version: "v2", service: "b" } },
      { weight: 0, tags: { service: "a" } },
      { weight: 5, tags: { service: "b", version: "v2" } },
      { weight: 1, tags: { version: "v1" } },
      { weight: 90, tags: { service: "a", version: "v1" } },
    ];
    expect(effectiveSplits(split).map(({ key, weight }) => [key, weight])).toEqual([
      ["service=a,version=v1", 90],
      ["service=b,version=v2", 15],
    ]);
  });

  it("keeps weights in u32 and shares in proportion", () => {
    const most = 0xffff_ffff;
    const split = [
      { weight: most, tags: { service: "a" } },
      { weight: most, tags: { service: "a" } },
      { weight: most, tags: { service: "b" } },
      { weight: 1, tags: { service: "c" } },
    ];
    expect(effectiveSplits(split).map(({ weight }) => weight)).toEqual([most, 2 ** 31, 1]);
  });

  it("does not depend on the order of splits", () => {
    const splits = fc.array(fc.record({ weight: fc.nat({ max: 0xffff_ffff }), tags }));
    fc.assert(
      fc.property(splits, (split) => {
        const found = effectiveSplits(split).map(({ key, weight }) => [key, weight]);
        const turned = effectiveSplits([...split].reverse());
        expect(turned.map(({ key, weight }) => [key, weight])).toEqual(found);
        for (const [, weight] of found) {
          expect(weight).toBeGreaterThan(0);
          expect(weight).toBeLessThanOrEqual(0xffff_ffff);
        }
      }),
    );
  });
});

describe("tags", () => {
  it("of an inbound: service, then labels, then metadata", () => {
    const found = inboundTags(
      "shop/web",
      { service: "x", env: "prod" },
      { env: "y", version: "v1" },
    );
    expect(found).toEqual({ service: "shop/web", env: "prod", version: "v1" });
  });

  it("have one text whatever the order of keys", () => {
    expect(tagsText({ version: "v1", service: "a/b" })).toBe("service=a/b,version=v1");
    expect(tagsText({})).toBe("");
  });
});
