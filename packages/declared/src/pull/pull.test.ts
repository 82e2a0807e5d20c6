import { describe, expect, it } from "vitest";
import { readManifest } from "../manifest/manifest.ts";
import { IGNITION, RINGWALL } from "../profile/profiles.ts";
import { Content } from "../tree/content.ts";
import { type Tree, treeOf } from "../tree/tree.ts";
import { pull } from "./pull.ts";

type Files = Readonly<Record<string, string>>;

function tree(files: Files): Tree {
  return treeOf(Object.entries(files).map(([path, text]) => [path, Content.ofText(text)]));
}

function pullFrom(core: Files, environment: Files, profile = IGNITION, manifest?: string) {
  return pull({
    profile,
    gateway: "gw1",
    environment: "prod",
    os: "linux",
    live: { core: tree(core), environment: tree(environment) },
    ...(manifest === undefined ? {} : { manifest: readManifest(manifest) }),
  });
}

const MES = "ignition/database-connection/MES";
const resource = (uuid: string) => `{"attributes":{"uuid":"${uuid}"}}`;

describe("pull", () => {
  it("names the known reasons why a unit would not come back, with a fix", () => {
    const without = { [`${MES}/resource.json`]: "{}", [`${MES}/config.json`]: "{}" };
    expect(pullFrom(without, {}).skipped).toMatchObject([
      {
        detail: expect.stringContaining("no uuid"),
        fix: expect.stringContaining("attributes.uuid"),
      },
    ]);
    const kept = { [`${MES}/resource.json`]: resource("u"), [`${MES}/.gitkeep`]: "" };
    expect(pullFrom(kept, {}).skipped).toMatchObject([
      { detail: expect.stringContaining(".gitkeep"), fix: expect.stringContaining("delete") },
    ]);
    const more = { [`${MES}/resource.json`]: resource("u"), [`${MES}/extra.txt`]: "x" };
    expect(pullFrom(more, { [`${MES}/resource.json`]: resource("u") }).skipped).toMatchObject([
      {
        detail: expect.stringContaining("lacks a file of core"),
        fix: expect.stringContaining("copy"),
      },
    ]);
  });

  it("drops what stands below a resource that is dropped, when a made file would join it", () => {
    const { skipped, rendered } = pullFrom(
      {
        [`${MES}/resource.json`]: "{}",
        [`${MES}/sub/resource.json`]: resource("u"),
        [`${MES}/sub/data.bin`]: "x",
      },
      {},
    );
    expect(skipped.map(({ path, reason }) => [path, reason])).toEqual([
      [MES, "not_round_trippable"],
      [`${MES}/sub`, "not_round_trippable"],
    ]);
    expect(rendered.tree.size).toBe(0);
  });

  it("says what a kept manifest leaves unread", () => {
    const live = { "ignition/opc-connection/O/config.json": "{}", "config-mode.json": "{}" };
    const { notInScope, excludedProviders, skipped } = pullFrom(
      live,
      { "ignition/tag-definition/System/A/tags.json": "{}" },
      IGNITION,
      "schema_version: 1\ntypes: [ignition/tag-definition]\n",
    );
    expect({ notInScope, excludedProviders, skipped }).toEqual({
      notInScope: ["ignition/opc-connection"],
      excludedProviders: ["System"],
      skipped: [],
    });
  });

  it("holds each layer of a control plane against its own", () => {
    const ssh = "policy/service/ssh";
    const { skipped } = pullFrom(
      { [`${ssh}/service.yaml`]: "base", [`${ssh}/.gitkeep`]: "" },
      { [`${ssh}/service.yaml`]: "over" },
      RINGWALL,
    );
    expect(skipped).toMatchObject([{ path: ssh, reason: "not_round_trippable" }]);
  });
});
