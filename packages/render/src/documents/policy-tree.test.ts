import { describe, expect, it } from "vitest";
import { admitTree } from "../admission/admit.ts";
import { PolicyTree, readTree, type TreeFile } from "./policy-tree.ts";

const service = (name: string, port = 5432) =>
  `kind: Service\nname: ${name}\nentries:\n  - protocol: tcp\n    ports: [${port}]\n`;
const ruleset = (name: string, service_: string) =>
  `kind: Ruleset\nname: ${name}\nscope: app=db\nrules:\n  - peers: [{cidr: 10.0.0.0/8}]\n` +
  `    services:\n      - ${service_}\n`;

function file(path: string, text: string, layer: TreeFile["layer"] = "core"): TreeFile {
  return { layer, path, text };
}

describe("PolicyTree", () => {
  it("takes the environment's copy of a unit instead of core's, and core's again without it", () => {
    const tree = new PolicyTree();
    tree.put("core", "policy/service/pg/service.yaml", service("pg", 5432));
    tree.put("environment", "policy/service/pg/service.yaml", service("pg", 6432));
    const ports = () =>
      tree.effective().configuration.services.map((each) => each.entries[0]?.ports);
    expect(ports()).toEqual([["6432"]]);
    tree.remove("environment", "policy/service/pg/service.yaml");
    expect(ports()).toEqual([["5432"]]);
  });

  it("refuses paths that fit no document and documents at another's path", () => {
    const { findings, configuration } = readTree([
      file("policy/service/a/service.yaml", service("b")),
      file("policy/ruleset/pg/ruleset.yaml", service("pg")),
      file("policy/nonsense.yaml", "x: y"),
      file("other/thing/a.json", "{"),
    ]);
    expect(findings.map((each) => `${each.file}:${each.line} ${each.rule}`)).toEqual([
      "core/policy/nonsense.yaml:1 path",
      "core/policy/ruleset/pg/ruleset.yaml:2 path-kind",
      "core/policy/service/a/service.yaml:2 path-kind",
    ]);
    expect(configuration.services).toEqual([]);
  });

  it("says which documents changed since the reading before, as they were and as they are", () => {
    const path = (name: string) => `policy/service/${name}/service.yaml`;
    const tree = new PolicyTree();
    for (const name of ["kept", "edited", "gone", "overlaid"]) {
      tree.put("core", path(name), service(name, 1));
    }
    const first = tree.effective();
    expect(first.edits).toBeUndefined();
    tree.put("core", path("edited"), service("edited", 2));
    tree.put("core", path("edited"), service("edited", 3));
    tree.remove("core", path("gone"));
    tree.put("core", path("came"), service("came", 1));
    tree.put("environment", path("overlaid"), service("overlaid", 4));
    const { edits } = tree.effective();
    const ports = (configuration = first.configuration) =>
      configuration.services.map(({ name, entries }) => `${name} ${entries[0]?.ports}`);
    expect(edits?.since).toBe(first.configuration);
    expect(ports(edits?.before)).toEqual(["edited 1", "gone 1", "overlaid 1"]);
    expect(ports(edits?.after)).toEqual(["came 1", "edited 3", "overlaid 4"]);
    const { edits: none } = tree.effective();
    expect([ports(none?.before), ports(none?.after)]).toEqual([[], []]);
  });

  it("does not depend on the order of files", () => {
    const files = ["b", "a", "c"].map((name) =>
      file(`policy/service/${name}/service.yaml`, service(name)),
    );
    const names = (list: TreeFile[]) =>
      readTree(list).configuration.services.map(({ name }) => name);
    expect(names(files)).toEqual(["a", "b", "c"]);
    expect(names(files.toReversed())).toEqual(["a", "b", "c"]);
  });
});

describe("admitTree", () => {
  it("gives findings of admission the file, line and path of their document", () => {
    const tree = readTree([
      file("policy/ruleset/a/ruleset.yaml", ruleset("a", "pg")),
      file("policy/ruleset/b/ruleset.yaml", ruleset("b", "gone"), "environment"),
      file("policy/service/pg/service.yaml", service("pg")),
    ]);
    expect(admitTree(tree)).toEqual([
      {
        file: "environment/policy/ruleset/b/ruleset.yaml",
        line: 7,
        path: "rules[0].services[0]",
        rule: "service-unknown",
        message: 'there is no service "gone"',
      },
    ]);
  });

  it("does not call a service unknown whose document can't be read", () => {
    const tree = readTree([
      file("policy/ruleset/a/ruleset.yaml", ruleset("a", "pg")),
      file("policy/service/pg/service.yaml", "kind: Service\nname: pg\n"),
    ]);
    expect(admitTree(tree).map(({ rule }) => rule)).toEqual(["key-required"]);
  });
});
