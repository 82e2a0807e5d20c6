import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { allMetrics, ZEROED_SERIES_LIMIT, zeroSeries } from "./index.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

function sourceFiles(): string[] {
  return ["packages", "services"].flatMap((group) =>
    readdirSync(join(ROOT, group)).flatMap((name) => {
      const source = join(ROOT, group, name, "src");
      if (!existsSync(source) || name === "telemetry") return [];
      return readdirSync(source, { recursive: true, encoding: "utf8" })
        .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|^testing\/|^gen\//.test(file))
        .map((file) => join(source, file));
    }),
  );
}

/** Metric names that stand in the sources of packages and services, tests and generated code left out. */
function namesInSources(): Set<string> {
  const names = new Set<string>();
  for (const file of sourceFiles()) {
    const text = readFileSync(file, "utf8");
    for (const [, name = ""] of text.matchAll(/"(ringwall_[a-z0-9_]+)"/g)) names.add(name);
    for (const [, name = ""] of text.matchAll(/^\s+(ringwall_[a-z0-9_]+):/gm)) names.add(name);
    // The agent's own names get the prefix from its process.
    for (const [, name = ""] of text.matchAll(/"(agent_[a-z0-9_]+_total)"/g)) {
      names.add(`ringwall_${name}`);
    }
  }
  // The mark at the end of an answer of nft is no metric.
  names.delete("ringwall_end_of_answer");
  return names;
}

describe("the catalogue of metrics", () => {
  it("has exactly the metrics that the code has", () => {
    const documented = new Set(allMetrics().map(({ name }) => name));
    const counted = namesInSources();
    // A metric of the code needs its line in a file of this folder; then `pnpm reference`.
    expect([...counted].filter((name) => !documented.has(name))).toEqual([]);
    expect([...documented].filter((name) => !counted.has(name))).toEqual([]);
  });

  it("names units: counters end in _total, histograms in a unit", () => {
    for (const { name, kind } of allMetrics()) {
      expect(name.endsWith("_total")).toBe(kind === "counter");
      if (kind === "histogram") expect(name).toMatch(/_(seconds|bytes)$/);
    }
  });

  it("shows counters at 0 as long as they have few series", () => {
    for (const metric of allMetrics()) {
      expect(zeroSeries(metric).length).toBeLessThanOrEqual(ZEROED_SERIES_LIMIT);
    }
  });
});
