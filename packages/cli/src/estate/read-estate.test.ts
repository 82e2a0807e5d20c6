import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CliError } from "../errors.ts";
import { readEstateFile } from "./read-estate.ts";

const SHOP = new URL("../../../../examples/shop/estate.yaml", import.meta.url);

describe("readEstateFile", () => {
  it("reads the shop: both families, both environments, one workload without an address", () => {
    const workloads = readEstateFile(readFileSync(SHOP, "utf8"), "estate.yaml");
    expect(workloads.length).toBeGreaterThanOrEqual(14);
    expect(new Set(workloads.map(({ labels }) => labels.env))).toEqual(
      new Set(["prod", "staging"]),
    );
    expect(workloads.filter(({ addresses }) => addresses.length === 0)).toHaveLength(1);
    const addresses = workloads.flatMap((workload) => workload.addresses);
    expect(addresses.some((address) => address.includes(":"))).toBe(true);
    expect(addresses.some((address) => address.includes("."))).toBe(true);
  });

  it("reports every fault at once with its line", () => {
    const text =
      "workloads:\n  - id: a\n    labels: { x: 1 }\n    extra: 2\n  - id: A B\n  - id: a\n";
    try {
      readEstateFile(text, "e.yaml");
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(CliError);
      const findings = error instanceof CliError ? (error.details.findings ?? []) : [];
      expect(findings.map(({ line, rule, path }) => `${line} ${rule} ${path}`)).toEqual([
        "4 key-unknown workloads[0].extra",
        "3 type workloads[0].labels.x",
        "5 workload-id workloads[1].id",
        "6 duplicate-name workloads[2].id",
      ]);
    }
  });
});
