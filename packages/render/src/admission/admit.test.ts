import { describe, expect, it } from "vitest";
import { readDocuments } from "../documents/read-document.ts";
import type { Configuration, RuleSpec, WorkloadSpec } from "../model.ts";
import { admit, admitDocuments } from "./admit.ts";
import { findInUse } from "./in-use.ts";
import { findUnmatchedSelectors } from "./unmatched.ts";

const NONE: Configuration = {
  rulesets: [],
  services: [],
  addressGroups: [],
  routes: [],
  inventory: [],
};
const RULE: RuleSpec = {
  peers: [{ cidr: "10.0.0.0/8" }],
  entries: [{ protocol: "tcp", ports: ["22"] }],
};
const summary = (configuration: Partial<Configuration>) =>
  admit({ ...NONE, ...configuration }).map(({ path, rule }) => `${path} ${rule}`);
const withRules = (...rules: RuleSpec[]) =>
  summary({ rulesets: [{ name: "set", scope: { app: ["db"] }, rules }] });

describe("admit", () => {
  it("derives ids, so that two rules without one clash only when they are the same", () => {
    expect(withRules(RULE, { ...RULE, entries: [{ protocol: "udp" }] })).toEqual([]);
    expect(withRules({ ...RULE, name: "a" }, { ...RULE, name: "b" })).toEqual([]);
    expect(withRules(RULE, { ...RULE, enabled: false })).toEqual(["rules[1].id rule-id-duplicate"]);
    expect(withRules({ ...RULE, name: "a" }, { ...RULE, name: "a", entries: [] })).toEqual([
      "rules[1].id rule-id-duplicate",
      "rules[1].services services-required",
    ]);
  });

  it("refuses one id in two rulesets, in whatever case, and ids that are no UUID", () => {
    const id = "0192f3a0-0000-7000-8000-00000000000a";
    const rulesets = [id, id.toUpperCase(), "x"].map((each, at) => ({
      name: `set-${at}`,
      scope: { app: ["db"] },
      rules: [{ ...RULE, id: each }],
    }));
    expect(summary({ rulesets })).toEqual([
      "rulesets[1].rules[0].id rule-id-duplicate",
      "rulesets[2].rules[0].id id",
    ]);
  });

  it("refuses two documents of one name, a route's name being that in its namespace", () => {
    const route = {
      name: "r",
      sources: [{ service: "*" }],
      destinations: [{ service: "a/b" }],
      split: [{ weight: 1, tags: { service: "a/b" } }],
    };
    const service = { name: "pg", entries: [{ protocol: "tcp" }] };
    expect(
      summary({
        services: [service, service],
        routes: [route, { ...route, namespace: "x" }, { ...route, namespace: "x" }],
      }),
    ).toEqual(["routes[2].name duplicate-name", "services[1].name duplicate-name"]);
  });

  it("validates traffic routes", () => {
    const route = { name: "r", sources: [], destinations: [{ v: "1" }], split: [] };
    expect(summary({ routes: [route] })).toEqual(
      expect.arrayContaining([
        "routes[0].sources need-one",
        "routes[0].destinations[0] only-service",
        "routes[0].split need-one",
      ]),
    );
  });

  it("checks inventory units: shape, ids, labels, services, one unit for one workload", () => {
    expect(
      summary({
        inventory: [
          { name: "a", workload: "db-1", labels: { "a b": "c d" } },
          { name: "b", workload: "db-1" },
          { name: "c", workload: "DB", selector: {} },
          { name: "d", selector: { app: ["db"] }, outbounds: ["db", "Shop/DB"] },
          { name: "e" },
        ],
      }),
    ).toEqual([
      "inventory[0].labels[a b] label-key",
      "inventory[0].labels[a b] label-value",
      "inventory[1].workload workload-duplicate",
      "inventory[2] inventory-shape",
      "inventory[2].selector selector-empty",
      "inventory[2].workload workload-id",
      "inventory[3].outbounds[0] service-key",
      "inventory[3].outbounds[1] service-key",
      "inventory[4] inventory-shape",
    ]);
  });

  it("checks alert sinks and repeats no credentials", () => {
    const [finding, ...rest] = admit({
      ...NONE,
      alertSinks: [{ name: "ops", url: "https://user:hunter2@example.org/" }],
    });
    expect(rest).toEqual([]);
    expect(finding?.rule).toBe("url");
    expect(finding?.message).not.toContain("hunter2");
  });

  it("refuses names that can't be folders and rulesets with too many rules", () => {
    const rules = Array.from({ length: 1_001 }, (_, at) => ({ ...RULE, name: `r${at}` }));
    expect(summary({ rulesets: [{ name: "../x", scope: { a: ["b"] }, rules }] })).toEqual([
      "name name",
      "rules limit",
    ]);
  });
});

describe("admitDocuments", () => {
  it("finds two documents of one name in loose files, with the line of the second", () => {
    const text = "kind: Service\nname: pg\nentries: [{protocol: tcp}]\n";
    const documents = [
      ...readDocuments(text, "a.yaml").documents,
      ...readDocuments(`---\n${text}`, "b.yaml").documents,
    ];
    const found = admitDocuments(documents);
    expect(found.map((each) => `${each.file}:${each.line} ${each.path} ${each.rule}`)).toEqual([
      "b.yaml:3 name duplicate-name",
    ]);
  });
});

describe("findInUse", () => {
  it("names who still uses a service or group that is taken away", () => {
    const before = {
      ...NONE,
      services: [{ name: "pg", entries: [{ protocol: "tcp" }] }],
      addressGroups: [{ name: "corp", cidrs: ["10.0.0.0/8"] }],
      rulesets: [
        {
          name: "set",
          scope: { a: ["b"] },
          rules: [{ peers: [{ addressGroup: "corp" }], services: ["pg"] }],
        },
      ],
    };
    const found = findInUse(before, { ...before, services: [], addressGroups: [] });
    expect(found.map(({ path, rule }) => `${path} ${rule}`)).toEqual([
      "addressGroups[0] in-use",
      "services[0] in-use",
    ]);
    expect(findInUse(before, before)).toEqual([]);
  });
});

describe("findUnmatchedSelectors", () => {
  const workload: WorkloadSpec = {
    id: "db-1",
    labels: { app: "db" },
    addresses: [],
    rows: [],
    outbounds: [],
    presence: "live",
    enforced: false,
  };

  it("warns of selectors that no workload satisfies, after inventory was overlaid", () => {
    const configuration: Configuration = {
      ...NONE,
      rulesets: [
        {
          name: "set",
          scope: { app: ["db"] },
          rules: [
            { ...RULE, peers: [{ workloads: { env: ["prod"] } }, { workloads: { x: ["y"] } }] },
          ],
        },
      ],
      inventory: [
        { name: "a", selector: { app: ["db"] }, labels: { env: "prod" } },
        { name: "b", selector: { env: ["prod"] } },
      ],
    };
    const found = findUnmatchedSelectors(configuration, [workload]);
    expect(found.map(({ path, warning }) => `${path} ${warning}`)).toEqual([
      "inventory[1].selector true",
      "rulesets[0].rules[0].peers[1].workloads true",
    ]);
  });
});
