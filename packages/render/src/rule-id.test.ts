import { describe, expect, it } from "vitest";
import type { RuleSpec } from "./model.ts";
import { authoredRuleId } from "./rule-id.ts";

const RULE: RuleSpec = {
  peers: [{ workloads: { app: ["web", "api"], env: ["prod"] } }, { cidr: "10.0.0.0/8" }],
  services: ["pg", "ssh"],
  entries: [{ protocol: "tcp", ports: ["22", "80"] }],
};

describe("authoredRuleId", () => {
  it("keeps a written id", () => {
    expect(authoredRuleId("set", { ...RULE, id: "A" })).toBe("A");
  });

  it("derives a version-8 UUID that never changes", () => {
    expect(authoredRuleId("set", RULE)).toBe("ac1d807d-f854-8c1e-a21d-6b3609864bf0");
    expect(authoredRuleId("set", RULE)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab]/);
  });

  it("depends on names alone when the rule has one", () => {
    const id = authoredRuleId("set", { ...RULE, name: "sql" });
    expect(authoredRuleId("set", { name: "sql", peers: [] })).toBe(id);
    expect(authoredRuleId("other", { ...RULE, name: "sql" })).not.toBe(id);
  });

  it("ignores the order of lists and whether the rule is enabled", () => {
    const turned: RuleSpec = {
      enabled: false,
      peers: [{ cidr: "10.0.0.0/8" }, { workloads: { env: ["prod"], app: ["api", "web"] } }],
      services: ["ssh", "pg"],
      entries: [{ protocol: " TCP", ports: ["80", "22"] }],
    };
    expect(authoredRuleId("set", turned)).toBe(authoredRuleId("set", RULE));
    expect(authoredRuleId("set", { ...RULE, services: ["pg"] })).not.toBe(
      authoredRuleId("set", RULE),
    );
  });
});
