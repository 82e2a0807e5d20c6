import { describe, expect, it } from "vitest";
import { pathOf, readPath } from "./document.ts";
import { readDocument, readDocuments } from "./read-document.ts";

const RULESET = `kind: Ruleset
name: web-to-db
scope: app=db env=prod
rules:
  - name: postgres
    peers:
      - workloads: { app: [web, api], env: prod }
      - addressGroup: corp
      - cidr: 203.0.113.7/32
    services: [pg]
    entries:
      - protocol: tcp
        ports: [22, "6000-6010"]
      - protocol: icmp
`;

const summary = (text: string) =>
  readDocument(text, "f.yaml").findings.map(({ line, path, rule }) => `${line} ${path} ${rule}`);

describe("readDocument", () => {
  it("reads a ruleset with selectors as map and as text", () => {
    const { document, findings } = readDocument(RULESET, "f.yaml");
    expect(findings).toEqual([]);
    expect(document).toEqual({
      kind: "Ruleset",
      spec: {
        name: "web-to-db",
        scope: { app: ["db"], env: ["prod"] },
        rules: [
          {
            name: "postgres",
            peers: [
              { workloads: { app: ["web", "api"], env: ["prod"] } },
              { addressGroup: "corp" },
              { cidr: "203.0.113.7/32" },
            ],
            services: ["pg"],
            entries: [{ protocol: "tcp", ports: ["22", "6000-6010"] }, { protocol: "icmp" }],
          },
        ],
      },
    });
  });

  it("reads every other kind", () => {
    const texts = [
      "kind: Service\nname: pg\nentries: [{protocol: tcp, ports: [5432]}]",
      "kind: AddressGroup\nname: corp\ncidrs: [10.0.0.0/8]",
      "kind: TrafficRoute\nnamespace: shop\nname: canary\nsources: [{service: '*'}]\n" +
        "destinations: [{service: shop/api}]\nsplit: [{weight: 10, tags: {service: shop/api, v: '2'}}]",
      "kind: Inventory\nname: db-1\nworkload: db-1\nlabels: {app: db}\nmode: enforced",
      "kind: AlertSink\nname: ops\nurl: https://alerts.example.org/hook\nevents: [mass-expiry]",
    ];
    const read = texts.map((text) => readDocument(text, "f.yaml"));
    expect(read.flatMap(({ findings }) => findings)).toEqual([]);
    expect(read.map(({ document }) => document && pathOf(document))).toEqual([
      "policy/service/pg/service.yaml",
      "policy/address-group/corp/address-group.yaml",
      "policy/traffic-route/shop/canary/traffic-route.yaml",
      "policy/inventory/db-1/inventory.yaml",
      "policy/alert-sink/ops/alert-sink.yaml",
    ]);
  });

  it("reports unknown, missing and duplicate keys and wrong types together, each with its line", () => {
    const text = `kind: Ruleset
name: 7
scoped: app=db
rules:
  - peers: none
    peers: []
    enabled: "yes"
    entries:
      - ports: [22.5, true]
`;
    expect(summary(text)).toEqual([
      "3 scoped key-unknown",
      "2 name type",
      "1  key-required",
      "6 rules[0].peers key-duplicate",
      "7 rules[0].enabled type",
      "5 rules[0].peers type",
      "9 rules[0].entries[0] key-required",
      "9 rules[0].entries[0].ports[0] type",
      "9 rules[0].entries[0].ports[1] type",
    ]);
  });

  it("says how to write a value that YAML reads as something else", () => {
    const [finding] = readDocument(
      "kind: Inventory\nname: a\nworkload: a\nlabels: {v: 1.10}",
      "f",
    ).findings;
    expect(finding?.path).toBe("labels[v]");
    expect(finding?.message).toMatch(/must be text, but is a number/);
  });

  it.each([
    ["", "1  document-count"],
    ["kind: Service", "1  key-required\n1  key-required"],
    ["name: x", "1  kind"],
    ["kind: Servise\nname: x", "1 kind kind"],
    ["- a\n- b", "1  kind"],
    ["kind: Service\nname: *x\nentries: []", "2 name type"],
    ["kind: Service\nname: !secret x\nentries: []", "2  yaml"],
    ["kind: Service\nname: [x\nentries: []", "3  yaml"],
    [
      "kind: Inventory\nname: a\nselector: app\nmode: strict",
      "3 selector selector-syntax\n4 mode mode",
    ],
    ["kind: Ruleset\nname: a\nscope: a=b a=c\nrules: []", "3 scope selector-syntax"],
    [
      "kind: Service\nname: a\nentries: []\n---\nkind: Service\nname: b\nentries: []",
      "5  document-count",
    ],
  ])("refuses %j", (text, wanted) => {
    expect(summary(text).join("\n")).toBe(wanted);
  });

  it("refuses a document over 1 MiB", () => {
    const text = `kind: AddressGroup\nname: big\ncidrs:\n${"  - 10.0.0.0/8\n".repeat(80_000)}`;
    expect(summary(text)).toEqual(["1  document-size"]);
  });

  it("refuses nesting that would exhaust the stack, quickly", () => {
    expect(summary(`a: ${"[".repeat(200_000)}`)).toEqual(["1  document-depth"]);
  });

  it("finds a duplicate among very many keys", () => {
    const labels = Array.from({ length: 20_000 }, (_, i) => `  k${i}: v`).join("\n");
    const text = `kind: Inventory\nname: a\nworkload: a\nlabels:\n${labels}\n  k7: w`;
    expect(summary(text)).toEqual(["20005 labels[k7] key-duplicate"]);
  });

  it("keeps keys that collide with built-in members of objects", () => {
    const text = "kind: Inventory\nname: a\nworkload: a\nlabels: {__proto__: x, constructor: y}";
    const { document } = readDocument(text, "f");
    expect(document?.kind === "Inventory" && Object.entries(document.spec.labels ?? {})).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
  });
});

describe("readDocuments", () => {
  it("reads several documents of one file and skips empty ones", () => {
    const text = `---\n${RULESET}---\n# nothing\n---\nkind: Service\nname: pg\nentries: []\n---\n`;
    const { documents, findings } = readDocuments(text, "all.yaml");
    expect(findings).toEqual([]);
    expect(documents.map(({ document }) => document.kind)).toEqual(["Ruleset", "Service"]);
    expect(documents[1]?.lines.get("name")).toBe(20);
  });

  it("keeps the good documents beside the findings of the bad ones", () => {
    const text = "kind: Service\nname: a\nentries: []\n---\nkind: Service\nnames: b\nentries: []\n";
    const { documents, findings } = readDocuments(text, "all.yaml");
    expect(documents).toHaveLength(1);
    expect(findings.map(({ line, rule }) => `${line} ${rule}`)).toEqual([
      "6 key-unknown",
      "5 key-required",
    ]);
  });
});

describe("readPath", () => {
  it("is the inverse of pathOf and refuses everything else", () => {
    expect(readPath("policy/traffic-route/shop/canary/traffic-route.yaml")).toEqual({
      kind: "TrafficRoute",
      name: "shop/canary",
    });
    expect(readPath("policy/ruleset/a/ruleset.yaml")).toEqual({ kind: "Ruleset", name: "a" });
    for (const path of [
      "policy/ruleset/a/service.yaml",
      "policy/ruleset/a/b/ruleset.yaml",
      "policy/ruleset/ruleset.yaml",
      "policy/ruleset//ruleset.yaml",
      "other/ruleset/a/ruleset.yaml",
      "policy/thing/a/thing.yaml",
    ]) {
      expect(readPath(path)).toBeUndefined();
    }
  });
});
