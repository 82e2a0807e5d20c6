import { matches } from "@ringwall/labels";
import { canonical, equal, marshal, normalizeCidr, ruleId } from "@ringwall/rendered";
import { Protocol, type WorkloadPolicy } from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { effectiveWorkloads } from "../inventory/effective.ts";
import type { Configuration, WorkloadSpec } from "../model.ts";
import { authoredRuleId } from "../rule-id.ts";
import { configurations, workloadLists } from "./estate-arbitrary.ts";
import { type Outcome, renderAll } from "./render-steps.ts";

const NONE: Configuration = {
  rulesets: [],
  services: [],
  addressGroups: [],
  routes: [],
  inventory: [],
};

function workload(id: string, rest: Partial<WorkloadSpec> = {}): WorkloadSpec {
  return {
    id,
    labels: {},
    addresses: [],
    rows: [],
    outbounds: [],
    presence: "live",
    enforced: false,
    ...rest,
  };
}

function policyOf(outcome: Outcome | undefined): WorkloadPolicy {
  if (outcome === undefined || !("policy" in outcome)) {
    throw new Error(`no policy: ${JSON.stringify(outcome)}`);
  }
  return outcome.policy;
}

const bytes = (outcomes: ReadonlyMap<string, Outcome>) =>
  Object.fromEntries(
    [...outcomes]
      .map(
        ([id, outcome]) => [id, Buffer.from(marshal(policyOf(outcome))).toString("hex")] as const,
      )
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** Rules of one workload, straight from the definitions. */
function naiveRules(configuration: Configuration, workloads: WorkloadSpec[], id: string) {
  const everyone = effectiveWorkloads(configuration, workloads);
  const own = everyone.find((each) => each.workload.id === id);
  const rules: WorkloadPolicy["inboundRules"] = [];
  for (const ruleset of configuration.rulesets) {
    if (ruleset.enabled === false || !matches(ruleset.scope, own?.labels ?? {})) {
      continue;
    }
    for (const rule of ruleset.rules.filter(({ enabled }) => enabled !== false)) {
      const peerCidrs = rule.peers.flatMap((peer) => [
        ...everyone
          .filter((each) => each.workload.presence !== "expired")
          .filter((each) => matches(peer.workloads, each.labels))
          .flatMap((each) => each.workload.addresses.map(normalizeCidr)),
        ...(configuration.addressGroups.find(({ name }) => name === peer.addressGroup)?.cidrs ??
          []),
        ...(peer.cidr === undefined ? [] : [peer.cidr]),
      ]);
      const entries = [
        ...(rule.services ?? []).flatMap(
          (name) => configuration.services.find((each) => each.name === name)?.entries ?? [],
        ),
        ...(rule.entries ?? []),
      ];
      for (const [name, protocol] of [
        ["tcp", Protocol.TCP],
        ["udp", Protocol.UDP],
        ["icmp", Protocol.ICMP],
      ] as const) {
        const ours = entries.filter((entry) => entry.protocol === name);
        const open = name === "icmp" || ours.some(({ ports = [] }) => ports.length === 0);
        const ports = (open ? [] : ours.flatMap((entry) => entry.ports ?? [])).map((text) => {
          const [start = 0, end = start] = text.split("-").map(Number);
          return { $typeName: "ringwall.v1.PortRange" as const, start, end };
        });
        if (ours.length > 0) {
          const ruleName = ruleId(authoredRuleId(ruleset.name, rule), protocol);
          rules.push({
            $typeName: "ringwall.v1.ResolvedRule",
            ruleId: ruleName,
            peerCidrs,
            protocol,
            ports,
          });
        }
      }
    }
  }
  return rules;
}

describe("renderAll", () => {
  it("gives the same bytes whatever the order of everything", () => {
    fc.assert(
      fc.property(
        configurations,
        workloadLists,
        fc.infiniteStream(fc.nat()),
        (config, list, key) => {
          const shuffle = <T>(items: readonly T[]) =>
            items
              .map((item) => ({ item, at: key.next().value ?? 0 }))
              .sort((a, b) => a.at - b.at)
              .map(({ item }) => item);
          const shuffled: Configuration = {
            rulesets: shuffle(config.rulesets).map((each) => ({
              ...each,
              rules: shuffle(each.rules).map((rule) => ({
                ...rule,
                peers: shuffle(rule.peers),
                services: shuffle(rule.services ?? []),
                entries: shuffle(rule.entries ?? []),
              })),
            })),
            services: shuffle(config.services),
            addressGroups: shuffle(config.addressGroups),
            routes: shuffle(config.routes),
            inventory: shuffle(config.inventory),
          };
          const workloads = shuffle(list).map((each) => ({
            ...each,
            addresses: shuffle(each.addresses),
            rows: shuffle(each.rows),
            outbounds: shuffle(each.outbounds),
          }));
          expect(bytes(renderAll(shuffled, workloads))).toEqual(bytes(renderAll(config, list)));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("agrees with rules written straight from the definitions", () => {
    fc.assert(
      fc.property(configurations, workloadLists, (config, list) => {
        for (const [id, outcome] of renderAll(config, list)) {
          const policy = policyOf(outcome);
          const naive = { ...policy, inboundRules: naiveRules(config, list, id) };
          expect(equal(canonical(naive), policy)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("shares peer sets between rules and policies between workloads of one class", () => {
    const peers = [{ workloads: { app: ["web"] } }];
    const entries = [{ protocol: "tcp", ports: ["5432"] }];
    const outcomes = renderAll(
      {
        ...NONE,
        rulesets: [
          { name: "a", scope: { app: ["db"] }, rules: [{ name: "x", peers, entries }] },
          {
            name: "b",
            scope: { app: ["db"] },
            rules: [{ name: "y", peers: [{ workloads: { tier: ["front"] } }], entries }],
          },
        ],
      },
      [
        workload("db-1", { labels: { app: "db", zone: "1" } }),
        workload("db-2", { labels: { app: "db", zone: "2" } }),
        workload("web", { labels: { app: "web", tier: "front" }, addresses: ["10.0.0.1"] }),
      ],
    );
    const first = policyOf(outcomes.get("db-1"));
    expect(policyOf(outcomes.get("db-2"))).toBe(first);
    expect(first.inboundRules[0]?.peerCidrs).toEqual(["10.0.0.1/32"]);
    expect(first.inboundRules[1]?.peerCidrs).toBe(first.inboundRules[0]?.peerCidrs);
  });

  it("refuses a workload over a limit and nobody else", () => {
    const many = Array.from({ length: 65_537 }, (_, at) =>
      workload(`w${at}`, {
        labels: { app: "many" },
        addresses: [`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`],
      }),
    );
    const outcomes = renderAll(
      {
        ...NONE,
        rulesets: [
          {
            name: "a",
            scope: { app: ["db"] },
            rules: [{ peers: [{ workloads: { app: ["many"] } }], entries: [{ protocol: "tcp" }] }],
          },
        ],
      },
      [...many, workload("db", { labels: { app: "db" } })],
    );
    expect(outcomes.get("db")).toEqual({
      refused: { limit: "peersPerRule", actual: 65_537, allowed: 65_536 },
    });
    expect([...outcomes.values()].filter((each) => "refused" in each)).toHaveLength(1);
  });
});

describe("outbound routes", () => {
  const api = (id: string, address: string, rest: Partial<WorkloadSpec> = {}, version = "1") =>
    workload(id, {
      addresses: [address],
      rows: [
        {
          service: "shop/api",
          port: 8080,
          ports: [8080, 9090],
          portClasses: { 8080: 1, 9090: 3 },
          weight: 1024,
          metadata: { version },
        },
      ],
      ...rest,
    });
  const caller = workload("web", {
    outbounds: ["shop/api"],
    rows: [
      {
        service: "shop/web",
        port: 80,
        ports: [80],
        portClasses: { 80: 1 },
        weight: 1,
        metadata: {},
      },
    ],
  });
  const canary = {
    namespace: "shop",
    name: "canary",
    sources: [{ service: "shop/web" }],
    destinations: [{ service: "shop/api" }],
    split: [
      { weight: 90, tags: { service: "shop/api", version: "1" } },
      { weight: 10, tags: { service: "shop/api", version: "2" } },
      { weight: 0, tags: { service: "shop/api", version: "3" } },
    ],
  };
  const routesOf = (configuration: Configuration, ...others: WorkloadSpec[]) =>
    policyOf(renderAll(configuration, [caller, ...others]).get("web")).outboundRoutes;

  it("splits a service by a route, with addresses of the families that have endpoints", () => {
    const [route, ...rest] = routesOf(
      { ...NONE, routes: [canary] },
      api("a1", "10.0.0.1"),
      api("a2", "fd00::2", {}, "2"),
    );
    expect(rest).toEqual([]);
    expect(route).toMatchObject({
      outbound: "shop/api",
      route: "shop/canary",
      splits: [
        {
          key: "service=shop/api,version=1",
          weight: 90,
          endpoints: ["tcp/10.0.0.1:8080@8080", "udp/10.0.0.1:9090@9090"],
        },
        {
          key: "service=shop/api,version=2",
          weight: 10,
          endpoints: ["tcp/[fd00::2]:8080@8080", "udp/[fd00::2]:9090@9090"],
        },
      ],
      virtualAddressV4: expect.stringMatching(/^2[45]\d\./),
      virtualAddressV6: expect.stringMatching(/^fd/),
    });
  });

  it("leads to the service itself when no route matches, and gives no address without endpoints", () => {
    expect(routesOf(NONE)).toMatchObject([
      {
        outbound: "shop/api",
        route: "",
        splits: [{ key: "service=shop/api", weight: 100, endpoints: [] }],
        virtualAddressV4: "",
        virtualAddressV6: "",
      },
    ]);
  });

  it("uses only live workloads, usable rows and rows with a weight as endpoints", () => {
    const row = api("x", "10.0.0.9").rows[0];
    if (row === undefined) {
      throw new Error("api has a row");
    }
    const [route] = routesOf(
      NONE,
      api("ok", "10.0.0.1"),
      api("draining", "10.0.0.2", { presence: "draining" }),
      api("stale", "10.0.0.3", { presence: "stale" }),
      api("untyped", "10.0.0.4", { rows: [{ ...row, portClasses: { 8080: 1 } }] }),
      api("weightless", "10.0.0.5", { rows: [{ ...row, weight: 0 }] }),
      api("garbled", "10.0.0.1000"),
    );
    expect(route?.splits[0]?.endpoints).toEqual([
      "tcp/10.0.0.1:8080@8080",
      "udp/10.0.0.1:9090@9090",
    ]);
  });
});
