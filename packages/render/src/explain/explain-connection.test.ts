import { Protocol } from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { containsCidr } from "../cidr.ts";
import { configurations, workloadLists } from "../full/estate-arbitrary.ts";
import { renderAll } from "../full/render-steps.ts";
import type { Configuration, WorkloadSpec } from "../model.ts";
import { ExplainError, explainConnection } from "./explain-connection.ts";

const workload = (id: string, app: string, addresses: string[], enforced = true): WorkloadSpec => ({
  id,
  labels: { app },
  addresses,
  rows: [],
  outbounds: [],
  presence: "live",
  enforced,
});

const WORKLOADS = [
  workload("db", "db", ["10.0.0.10"]),
  workload("web", "web", ["10.0.0.20", "fd00::20"]),
  workload("batch", "batch", ["10.0.0.30"]),
  workload("mute", "web", []),
  workload("lab", "lab", ["10.0.0.40"], false),
];

const CONFIGURATION: Configuration = {
  rulesets: [
    {
      name: "to-db",
      scope: { app: ["db"] },
      rules: [
        { name: "sql", peers: [{ workloads: { app: ["web"] } }], services: ["pg"] },
        {
          name: "admin",
          enabled: false,
          peers: [{ addressGroup: "corp" }],
          entries: [{ protocol: "tcp", ports: ["22"] }],
        },
      ],
    },
  ],
  services: [{ name: "pg", entries: [{ protocol: "tcp", ports: ["5432"] }] }],
  addressGroups: [{ name: "corp", cidrs: ["192.168.0.0/16"] }],
  routes: [],
  inventory: [],
};

const explain = (from: string, to: string, port: number, protocol: Protocol = Protocol.TCP) =>
  explainConnection(CONFIGURATION, WORKLOADS, from, to, port, protocol);

describe("explainConnection", () => {
  it("names the rule that allows a connection, with the peer and entry that match", () => {
    const { allowed, by, rules } = explain("web", "db", 5432);
    expect([allowed, by]).toEqual([true, "rule"]);
    expect(rules).toMatchObject([
      {
        ruleset: "to-db",
        name: "sql",
        peers: ["workloads app=web"],
        entries: ["service pg"],
        covers: ["10.0.0.20/32", "fd00::20/128"],
      },
    ]);
  });

  it.each([
    ["batch", "db", 5432, Protocol.TCP, "sql", ["peer"]],
    ["web", "db", 5433, Protocol.TCP, "sql", ["port"]],
    ["web", "db", 5432, Protocol.UDP, "sql", ["protocol"]],
    ["192.168.7.7", "db", 22, Protocol.TCP, "admin", ["disabled"]],
    ["web", "batch", 5432, Protocol.TCP, "sql", ["scope"]],
  ])("says why %s may not reach %s on %d/%s", (from, to, port, protocol, name, checks) => {
    const { allowed, by, nearest } = explain(from, to, port, protocol);
    expect([allowed, by, nearest?.name]).toEqual([false, "none", name]);
    expect(nearest?.misses.map(({ check }) => check)).toEqual(checks);
  });

  it("tells a connection that passes because nothing is enforced from one that a rule allows", () => {
    expect(explain("web", "lab", 80)).toMatchObject({ allowed: true, by: "mode", rules: [] });
  });

  it("says that a workload without addresses can't be a peer", () => {
    expect(explain("mute", "db", 5432).reason).toMatch(/mute has no address/);
  });

  it("refuses callees and callers that are nobody", () => {
    expect(() => explain("web", "nobody", 1)).toThrow(ExplainError);
    expect(() => explain("nobody", "db", 1)).toThrow(/neither a workload nor an address/);
  });

  it("agrees with the rendered policy", () => {
    const connection = fc.record({
      from: fc.constantFrom("10.0.0.1", "10.0.0.2", "fd00::1", "192.0.2.5"),
      port: fc.constantFrom(22, 85, 443, 8080),
      protocol: fc.constantFrom(Protocol.TCP, Protocol.UDP, Protocol.ICMP),
    });
    fc.assert(
      fc.property(
        configurations,
        workloadLists,
        connection,
        (config, list, { from, port, protocol }) => {
          for (const [id, outcome] of renderAll(config, list)) {
            const rules = "policy" in outcome ? outcome.policy.inboundRules : [];
            const allowing = rules
              .filter((rule) => rule.protocol === protocol)
              .filter((rule) => rule.peerCidrs.some((cidr) => containsCidr(cidr, from)))
              .filter(
                ({ ports }) =>
                  ports.length === 0 ||
                  ports.some(({ start, end }) => start <= port && port <= end),
              );
            const found = explainConnection(config, list, from, id, port, protocol);
            expect(found.rules.map(({ renderedId }) => renderedId).sort()).toEqual(
              allowing.map(({ ruleId }) => ruleId).sort(),
            );
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
