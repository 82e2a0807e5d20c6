import { describe, expect, it } from "vitest";
import { DeclaredError } from "../errors.ts";
import type { Os } from "../lints/names.ts";
import { readManifest } from "../manifest/manifest.ts";
import type { Profile } from "../profile/profile.ts";
import { IGNITION, RINGWALL } from "../profile/profiles.ts";
import { Content } from "../tree/content.ts";
import { treeOf } from "../tree/tree.ts";
import { render } from "./render.ts";

interface Case {
  readonly profile?: Profile;
  readonly types?: string;
  readonly os?: Os;
  readonly files: Readonly<Record<string, string>>;
}

function rendered({ profile = RINGWALL, types = "policy/service", os = "linux", files }: Case) {
  return render({
    profile,
    manifest: readManifest(`schema_version: 1\ntypes: [${types}]\n`),
    gateway: "gw1",
    environment: "prod",
    os,
    tree: treeOf(Object.entries(files).map(([path, text]) => [path, Content.ofText(text)])),
  });
}

function findings(given: Case): string[] {
  try {
    rendered(given);
    return [];
  } catch (error) {
    if (!(error instanceof DeclaredError)) throw error;
    return error.findings.map(({ path, code }) => `${code} ${path}`);
  }
}

describe("rendering for a control plane", () => {
  const base = "resources/policy/service";

  it("keeps the layers apart and the overlay in front", () => {
    const { layers, tree, sources } = rendered({
      files: {
        [`${base}/ssh/service.yaml`]: "base",
        [`modes/prod/${base}/ssh/service.yaml`]: "over",
        [`modes/test/${base}/ssh/service.yaml`]: "other",
      },
    });
    const path = "policy/service/ssh/service.yaml";
    expect(layers.core.get(path)?.text()).toBe("base");
    expect(layers.environment.get(path)?.text()).toBe("over");
    expect(tree.get(path)?.text()).toBe("over");
    expect(sources.get(`environment/${path}`)).toBe(`modes/prod/${base}/ssh/service.yaml`);
  });

  it("judges what an overlay replaces too, because it is written", () => {
    const files = {
      [`${base}/ssh/service.yaml`]: "a\r\n",
      [`modes/prod/${base}/ssh/service.yaml`]: "b\n",
    };
    expect(findings({ files })).toEqual([`carriage-return ${base}/ssh/service.yaml`]);
  });

  it("wants exactly one document per folder, at the depth of its type", () => {
    const route = "resources/policy/traffic-route";
    const files = {
      [`${base}/ssh/service.yaml`]: "",
      [`${base}/ssh/more.yaml`]: "",
      [`${base}/a/b/service.yaml`]: "",
      [`${base}/service.yaml`]: "",
      [`${route}/ns/name/traffic-route.yaml`]: "",
      [`${route}/a/b/c/traffic-route.yaml`]: "",
    };
    expect(findings({ types: "policy/service, policy/traffic-route", files })).toEqual([
      `shape ${base}/a/b/service.yaml`,
      `shape ${base}/service.yaml`,
      `shape ${base}/ssh/more.yaml`,
      `shape ${route}/a/b/c/traffic-route.yaml`,
    ]);
  });

  it("never takes credentials", () => {
    const file = "resources/policy/signing-key/k/key.yaml";
    expect(findings({ types: "policy/signing-key", files: { [file]: "" } })).toEqual([
      `denied-type ${file}`,
    ]);
  });

  it("digests both layers, so that moving a document between them counts", () => {
    const one = rendered({ files: { [`${base}/ssh/service.yaml`]: "x" } });
    const other = rendered({ files: { [`modes/prod/${base}/ssh/service.yaml`]: "x" } });
    expect(one.renderSha256).not.toBe(other.renderSha256);
  });
});

describe("rendering for a gateway", () => {
  const theme = "resources/com.inductiveautomation.perspective/themes";
  const types = "com.inductiveautomation.perspective/themes";

  it("finds folders that differ in case only, with different files in them", () => {
    const files = { [`${theme}/Dark/a.css`]: "", [`${theme}/dark/b.css`]: "" };
    expect(findings({ profile: IGNITION, types, os: "windows", files })).toEqual([
      `case-collision ${theme}/Dark/a.css`,
      `case-collision ${theme}/dark/b.css`,
    ]);
    expect(findings({ profile: IGNITION, types, files })).toEqual([]);
  });

  it("looks for secrets in a file that an overlay replaces", () => {
    const folder = "resources/ignition/database-connection/A";
    const files = {
      [`${folder}/config.json`]: '{"password":"x"}',
      [`modes/prod/${folder}/config.json`]: "{}",
    };
    expect(findings({ profile: IGNITION, types: "ignition/database-connection", files })).toEqual([
      `secret-plaintext ${folder}/config.json`,
    ]);
  });

  it("tells places and keys of a secret, never its value", () => {
    const folder = "resources/ignition/opc-connection/A";
    const files = { [`${folder}/config.json`]: '{"a":{"dbPassword":"hunter2"}}' };
    try {
      rendered({ profile: IGNITION, types: "ignition/opc-connection", files });
      expect.unreachable();
    } catch (error) {
      const text = `${error} ${JSON.stringify(error)}`;
      expect(text).toContain("$.a.dbPassword (plaintext)");
      expect(text).not.toContain("hunter2");
    }
  });
});
