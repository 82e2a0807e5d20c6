import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeMetric, type MetricDescription } from "@ringwall/telemetry";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../telemetry/paths.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

// The file's own form, which the tests below go through field by field.
const { groups } = parse(read("deploy/observability/alerts.yaml")) as {
  groups: { rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const dashboard = read("deploy/observability/dashboard.json");
// A dashboard in the form that Grafana exports.
const { panels } = JSON.parse(dashboard) as {
  panels: { title: string; targets?: { expr: string }[] }[];
};
const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** The metric that a name of a query stands for: histograms are asked by their parts. */
function metricOf(name: string): MetricDescription | undefined {
  return describeMetric(name) ?? describeMetric(name.replace(/_(bucket|sum|count)$/, ""));
}

/** Everything in a query that no process shows: metrics, labels, and values of labels. */
function strangers(query: string): string[] {
  const found: string[] = [];
  for (const [, name = "", , matchers = ""] of query.matchAll(
    /\b(ringwall_[a-z0-9_]+)(\{([^}]*)\})?/g,
  )) {
    const metric = metricOf(name);
    if (metric === undefined) {
      found.push(name);
      continue;
    }
    for (const [, label = "", operator = "", value = ""] of matchers.matchAll(
      /([a-z_]+)(=~|!~|!=|=)"([^"]*)"/g,
    )) {
      const values = metric.labels[label] ?? [];
      const wanted = operator.includes("~") ? value.split("|") : [value];
      if (wanted.some((each) => !values.includes(each))) found.push(`${name}{${label}="${value}"}`);
    }
    if (name.endsWith("_bucket") && metric.kind !== "histogram") found.push(name);
    const isRate = new RegExp(`(rate|increase|changes)\\(${name}[{[]`).test(query);
    if (metric.kind === "gauge" && isRate) found.push(`rate of the gauge ${name}`);
    if (metric.kind === "counter" && !isRate) found.push(`${name} without rate or increase`);
  }
  return found;
}

describe("the alert rules", () => {
  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    "%s asks for what is there, and has its part in the runbook",
    (alert, { expr, labels, annotations }) => {
      expect(strangers(expr)).toEqual([]);
      expect(["critical", "warning", "info"]).toContain(labels.severity);
      expect(annotations.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
      const [, part = ""] = read("docs/runbook.md").split(`## ${alert}\n`);
      for (const word of ["**Means**", "**Look at**", "**Do**"]) {
        expect(part.split("\n## ")[0]).toContain(word);
      }
    },
  );

  it("cover every part of the runbook", () => {
    const parts = [...read("docs/runbook.md").matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    expect(parts.sort()).toEqual(rules.map(({ alert }) => alert).sort());
  });
});

describe("the dashboard", () => {
  it("asks only for metrics and labels that are there", () => {
    expect(queries.length).toBeGreaterThan(20);
    expect(queries.flatMap(strangers)).toEqual([]);
  });

  it("has a panel for what the alerts are about", () => {
    for (const name of [
      "ringwall_held",
      "ringwall_convergence_seconds",
      "ringwall_agents",
      "ringwall_epochs_begun_total",
      "ringwall_mass_expiry",
      "ringwall_refused_rows",
      "ringwall_agent_drift_repairs_total",
    ]) {
      expect(queries.some((query) => query.includes(name))).toBe(true);
    }
  });
});
