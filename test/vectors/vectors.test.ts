import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { FAMILIES } from "./families.ts";
import { runVectors } from "./runner.ts";

const FILES = ["endpointmeta", "routes", "rendered", "declared"];

describe("vectors", () => {
  it.each(FILES)("of %s all pass, as far as their functions are bound", async (name) => {
    const text = await readFile(new URL(`${name}.jsonl`, import.meta.url), "utf8");
    const bound = text
      .split("\n")
      .filter((line) => line !== "" && FAMILIES.has(JSON.parse(line).fn.split(".")[0]));
    const outcomes = await runVectors(bound.join("\n"));
    expect(outcomes).toHaveLength(bound.length);
    expect(outcomes.filter(({ verdict }) => verdict !== "passed")).toEqual([]);
  });
});

describe("runVectors", () => {
  async function verdicts(...vectors: readonly unknown[]) {
    const lines = vectors.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
    const outcomes = await runVectors(lines.join("\n"));
    return outcomes.map(({ id, verdict, detail }) => [id, verdict, ...detail]);
  }
  const port = (id: string, text: string, rest: object) => ({
    id,
    fn: "endpointmeta.port",
    in: { annotations: { "endpoint.aether.io/port": text } },
    ...rest,
  });

  it("tells wanted and actual value of what fails", async () => {
    expect(
      await verdicts(
        port("a", "80", { want: 80 }),
        port("b", "80", { want: 81 }),
        port("c", "80", { wantError: "port" }),
        port("d", "x", { want: 80 }),
        port("e", "x", { wantError: "weight" }),
        port("f", "x", { wantError: "port" }),
      ),
    ).toEqual([
      ["a", "passed"],
      ["b", "failed", "wanted 81", "actual 80"],
      ["c", "failed", "wanted error port", "actual 80"],
      ["d", "failed", "wanted 80", "actual error port"],
      ["e", "failed", "wanted error weight", "actual error port"],
      ["f", "passed"],
    ]);
  });

  it("tells functions that it does not know", async () => {
    const rest = { in: {}, want: 1 };
    expect(
      await verdicts(
        { id: "a", fn: "nothing.here", ...rest },
        { id: "b", fn: "labels.nothing", ...rest },
        { id: "c", fn: "labels.constructor", ...rest },
        { id: "d", fn: "labels", ...rest },
      ),
    ).toEqual([
      ["a", "unknown", "unknown function nothing.here"],
      ["b", "unknown", "unknown function labels.nothing"],
      ["c", "unknown", "unknown function labels.constructor"],
      ["d", "unknown", "unknown function labels"],
    ]);
  });

  it("fails lines that are no vector, repeated ids and exceptions without a code", async () => {
    const found = await verdicts(
      "{",
      "[]",
      "null",
      { id: "x", fn: "labels.isKey", in: { text: "a" } },
      "",
      port("a", "80", { want: 80 }),
      port("a", "80", { want: 80 }),
      { id: "b", fn: "labels.version", in: {}, wantError: "anything" },
    );
    expect(found.map(([id, verdict]) => [id, verdict])).toEqual([
      ["line 1", "failed"],
      ["line 2", "failed"],
      ["line 3", "failed"],
      ["line 4", "failed"],
      ["a", "passed"],
      ["a", "failed"],
      ["b", "failed"],
    ]);
    expect(found[6]?.[3]).toContain("exception TypeError");
  });
});
