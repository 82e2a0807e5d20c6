import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  combineRank,
  compareRank,
  compareRoutes,
  type Dataplane,
  dataplaneMatches,
  explainRoute,
  type Rank,
  type Route,
  RouteIndex,
  rank,
  select,
  selectorMatches,
  type Tags,
} from "./index.ts";

const services = ["web", "api", "redis"];
const tags = fc.dictionary(
  fc.constantFrom("service", "version", "region"),
  fc.constantFrom("web", "redis", "v1", "eu", ""),
  { maxKeys: 3 },
);
const selector = fc.dictionary(
  fc.constantFrom("service", "version", "region"),
  fc.constantFrom("web", "redis", "v1", "*", "eu", ""),
  { maxKeys: 3 },
);
const destination = fc.oneof(
  fc.constantFrom(...[...services, "*"].map((service): Tags => ({ service })), {}),
  selector,
);
const route: fc.Arbitrary<Route> = fc
  .record({
    mesh: fc.option(fc.constantFrom("default", "m1"), { nil: undefined }),
    namespace: fc.option(fc.constantFrom("", "a", "b"), { nil: undefined }),
    name: fc.constantFrom("r1", "r2", "\uff5e", "\u{1f600}"),
    sources: fc.array(selector, { maxLength: 3 }),
    destinations: fc.array(destination, { maxLength: 3 }),
    split: fc.array(fc.record({ weight: fc.nat({ max: 9 }), tags }), { maxLength: 2 }),
  })
  .map(({ mesh, namespace, ...rest }) => ({
    ...rest,
    ...(mesh === undefined ? {} : { mesh }),
    ...(namespace === undefined ? {} : { namespace }),
  }));
const dataplane: fc.Arbitrary<Dataplane> = fc.record({
  inbounds: fc.array(fc.record({ tags }), { maxLength: 3 }),
  outbounds: fc.array(fc.constantFrom(...services, "*"), { maxLength: 4 }),
});

/** The rule of selection, read from its words without an index. */
function selectPlainly(caller: Dataplane, routes: readonly Route[], service: string) {
  const ranked: { route: Route; rank: Rank }[] = [];
  for (const each of routes) {
    if ((each.mesh ?? "default") !== (caller.mesh ?? "default")) continue;
    for (const source of each.sources) {
      if (!caller.inbounds.some((inbound) => selectorMatches(source, inbound.tags))) continue;
      for (const target of each.destinations) {
        if (!selectorMatches(target, { service })) continue;
        ranked.push({ route: each, rank: combineRank(rank(source), rank(target)) });
      }
    }
  }
  ranked.sort((a, b) => compareRank(b.rank, a.rank) || compareRoutes(a.route, b.route));
  return ranked[0]?.route;
}

describe("select", () => {
  it("gives the route that the rule names, with or without an index", () => {
    fc.assert(
      fc.property(dataplane, fc.array(route, { maxLength: 12 }), (caller, routes) => {
        const selected = select(caller, new RouteIndex(routes));
        expect(select(caller, routes)).toEqual(selected);
        expect([...selected.keys()]).toEqual([...new Set(caller.outbounds)]);
        for (const [service, selection] of selected) {
          const wanted = selectPlainly(caller, routes, service);
          expect(selection.route).toEqual(wanted);
          expect(selection.split).toEqual(wanted?.split ?? [{ weight: 100, tags: { service } }]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("does not depend on the order of routes, sources, destinations or inbounds", () => {
    const shuffledRoutes = fc
      .array(route, { maxLength: 10 })
      .chain((routes) => fc.tuple(fc.constant(routes), shuffled(routes)));
    fc.assert(
      fc.property(dataplane, shuffledRoutes, (caller, [routes, others]) => {
        const turned = others.map((each) => ({
          ...each,
          sources: [...each.sources].reverse(),
          destinations: [...each.destinations].reverse(),
        }));
        const backwards = { ...caller, inbounds: [...caller.inbounds].reverse() };
        const wanted = select(caller, routes);
        for (const [service, selection] of select(backwards, turned)) {
          const first = wanted.get(service);
          expect(selection.split).toEqual(first?.split);
          expect(selection.route?.name).toBe(first?.route?.name);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("is not changed by routes that do not match", () => {
    fc.assert(
      fc.property(dataplane, fc.array(route), fc.array(route), (caller, routes, more) => {
        const deaf = more.map((each) => ({ ...each, sources: [{ nobody: "has this" }] }));
        expect(select(caller, [...deaf, ...routes])).toEqual(select(caller, routes));
      }),
    );
  });

  it("takes services that are called like inherited members", () => {
    const caller = {
      inbounds: [{ tags: { service: "web" } }],
      outbounds: ["__proto__", "toString"],
    };
    const selected = select(caller, []);
    expect([...selected.keys()]).toEqual(["__proto__", "toString"]);
  });
});

describe("explainRoute", () => {
  it("is of one mind with select and names every route once", () => {
    fc.assert(
      fc.property(dataplane, fc.array(route, { maxLength: 10 }), (caller, routes) => {
        for (const [service, { route: wanted }] of select(caller, routes)) {
          const explained = explainRoute(caller, service, routes);
          expect(explained.selected).toEqual(wanted);
          expect(explained.verdicts).toHaveLength(routes.length);
          const winners = explained.verdicts.filter(({ outcome }) => outcome === "selected");
          expect(winners.map((verdict) => verdict.route)).toEqual(wanted ? [wanted] : []);
          expect(explained.verdicts.findIndex(({ outcome }) => outcome === "selected")).toBe(
            wanted ? 0 : -1,
          );
        }
      }),
    );
  });

  it("says why each candidate lost", () => {
    const base = { sources: [{ service: "*" }], destinations: [{ service: "redis" }], split: [] };
    const routes: Route[] = [
      { ...base, namespace: "shop", name: "z" },
      { ...base, namespace: "shop", name: "a" },
      { ...base, name: "wide", destinations: [{ service: "*" }] },
      { ...base, name: "other-caller", sources: [{ service: "api" }] },
      { ...base, name: "other-service", destinations: [{ service: "search" }] },
      { ...base, name: "elsewhere", mesh: "m1" },
      { ...base, name: "canary", sources: [{ service: "web", version: "v2" }] },
    ];
    const caller = { inbounds: [{ tags: { service: "web", version: "v2" } }] };
    const { selected, verdicts } = explainRoute(caller, "redis", routes);
    expect(selected?.name).toBe("canary");
    expect(verdicts.map(({ route: { name }, outcome }) => [name, outcome])).toEqual([
      ["canary", "selected"],
      ["a", "less-specific"],
      ["z", "less-specific"],
      ["wide", "less-specific"],
      ["other-caller", "no-source"],
      ["other-service", "no-destination"],
      ["elsewhere", "other-mesh"],
    ]);
    expect(verdicts.map(({ reason }) => reason)).toEqual([
      "most specific: 3 tags (3 exact, 0 wildcard)",
      "2 tags (1 exact, 1 wildcard), less specific than 3 tags (3 exact, 0 wildcard) of /canary",
      "2 tags (1 exact, 1 wildcard), less specific than 3 tags (3 exact, 0 wildcard) of /canary",
      "2 tags (0 exact, 2 wildcard), less specific than 3 tags (3 exact, 0 wildcard) of /canary",
      "no source selector matches a single inbound of the dataplane",
      "no destination selector matches service redis",
      "it belongs to mesh m1, the dataplane to default",
    ]);
  });

  it("names the tie-break", () => {
    const base = { sources: [{}], destinations: [{}], split: [] };
    const routes = [
      { ...base, namespace: "b", name: "a" },
      { ...base, namespace: "a", name: "b" },
    ];
    const { verdicts } = explainRoute({ inbounds: [{ tags: {} }] }, "x", routes);
    expect(verdicts[1]?.outcome).toBe("later-name");
    expect(verdicts[1]?.reason).toBe("as specific as a/b, which comes first by namespace and name");
  });
});

describe("ranks", () => {
  const ranks = fc.record({ exact: fc.nat({ max: 4 }), wildcard: fc.nat({ max: 4 }) });

  it("are totally ordered, and combining keeps the order", () => {
    fc.assert(
      fc.property(ranks, ranks, ranks, (a, b, c) => {
        expect(compareRank(a, b) + compareRank(b, a)).toBe(0);
        if (compareRank(a, b) > 0 && compareRank(b, c) > 0) expect(compareRank(a, c)).toBe(1);
        expect(compareRank(combineRank(a, c), combineRank(b, c))).toBe(compareRank(a, b));
        expect(combineRank(a, b)).toEqual(combineRank(b, a));
      }),
    );
  });

  it("never pool the tags of several inbounds", () => {
    const inbounds = [{ tags: { x: "1" } }, { tags: { y: "1" } }];
    expect(dataplaneMatches(inbounds, { x: "1", y: "1" })).toBe(false);
    expect(dataplaneMatches(inbounds, { y: "*" })).toBe(true);
    expect(dataplaneMatches([], {})).toBe(false);
  });
});

function shuffled<T>(items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length });
}
