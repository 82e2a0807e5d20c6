import { describe, expect, it } from "vitest";
import { readSources } from "./read-sources.ts";

const SERVICE = (name: string) =>
  `kind: Service\nname: ${name}\nentries:\n  - protocol: tcp\n    ports: ["22"]\n`;
const OPTIONS = { layer: "core", environment: "prod" } as const;

function sourcesOf(...files: readonly (readonly [string, string | Uint8Array])[]) {
  return readSources(
    files.map(([file, text]) => ({ file, bytes: Buffer.from(text) })),
    OPTIONS,
  );
}

describe("readSources", () => {
  it("puts each document of a file where it belongs, with its own bytes", () => {
    const { puts, findings } = sourcesOf(["all.yaml", `${SERVICE("a")}---\n# b\n${SERVICE("b")}`]);
    expect(findings).toEqual([]);
    expect(puts.map(({ layer, path }) => `${layer}/${path}`)).toEqual([
      "core/policy/service/a/service.yaml",
      "core/policy/service/b/service.yaml",
    ]);
    expect(Buffer.from(puts[1]?.bytes ?? []).toString()).toBe(`# b\n${SERVICE("b")}`);
  });

  it("refuses a name that can't be part of a path, where it stands", () => {
    for (const name of ["../../x", '"a\\0b"', "a//b", '"a\\\\b"']) {
      const { puts, findings } = sourcesOf(["one.yaml", `# first\n${SERVICE(name)}`]);
      expect(puts).toEqual([]);
      expect(findings).toMatchObject([{ file: "one.yaml", line: 3, rule: "name", path: "name" }]);
    }
  });

  it("reports every finding of every file with the line in the file", () => {
    const { findings } = sourcesOf(
      ["one.yaml", `${SERVICE("a")}---\nkind: Service\nname: b\nentries: 5\nextra: 1\n`],
      ["two.yaml", "kind: Ruleset\nname: [a]\n"],
    );
    const places = findings.map(({ file, line, rule }) => `${file}:${line} ${rule}`);
    expect(places).toContain("one.yaml:9 type");
    expect(places).toContain("one.yaml:10 key-unknown");
    expect(places.filter((place) => place.startsWith("two.yaml:"))).not.toEqual([]);
  });

  it("refuses two documents of one name and names both places", () => {
    const { findings } = sourcesOf(["a.yaml", SERVICE("x")], ["b.yaml", `---\n${SERVICE("x")}`]);
    expect(findings).toMatchObject([{ file: "b.yaml", line: 2, rule: "duplicate-name" }]);
    expect(findings[0]?.message).toContain("a.yaml:1");
  });

  it("refuses bytes that are not UTF-8", () => {
    const { findings } = sourcesOf(["a.yaml", new Uint8Array([0x6b, 0xff])]);
    expect(findings).toMatchObject([{ file: "a.yaml", rule: "encoding" }]);
  });

  it("refuses an overlay of another environment and a document in the wrong place", () => {
    const { findings, puts } = sourcesOf(
      ["/r/gateways/g/modes/staging/resources/policy/service/a/service.yaml", SERVICE("a")],
      ["/r/gateways/g/resources/policy/service/b/service.yaml", SERVICE("c")],
    );
    expect(findings.map(({ rule }) => rule)).toEqual(["environment", "path"]);
    expect(puts).toEqual([]);
  });
});
