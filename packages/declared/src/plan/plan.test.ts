import { describe, expect, it } from "vitest";
import { IGNITION, RINGWALL } from "../profile/profiles.ts";
import { Content } from "../tree/content.ts";
import { type Tree, treeOf } from "../tree/tree.ts";
import { firstDifference } from "./difference.ts";
import { plan } from "./plan.ts";

function tree(files: Readonly<Record<string, string>>): Tree {
  return treeOf(Object.entries(files).map(([path, text]) => [path, Content.ofText(text)]));
}

const SSH = "policy/service/ssh/service.yaml";
const NONE = tree({});

describe("the plan of a control plane", () => {
  const digest = (text: string) => Content.ofText(text).sha256;

  it("sees an edit beneath an overlay, and an overlay that is gone", () => {
    const { entries, puts, deletes } = plan({
      profile: RINGWALL,
      desired: { core: tree({ [SSH]: "base" }), environment: NONE },
      live: { core: tree({ [SSH]: "edited" }), environment: tree({ [SSH]: "over" }) },
      ledger: { files: [`core/${SSH}`, `environment/${SSH}`] },
    });
    expect(entries.map(({ key, status, liveIn }) => [key, status, liveIn])).toEqual([
      ["core/policy/service/ssh", "changed", ["core"]],
      ["environment/policy/service/ssh", "removed", ["environment"]],
    ]);
    expect(puts.map(({ layer, path }) => [layer, path])).toEqual([["core", SSH]]);
    expect(deletes).toEqual([`environment/${SSH}`]);
  });

  it("calls drift what differs from base and desired, and says what applying would replace", () => {
    const other = "policy/service/new/service.yaml";
    const input = {
      profile: RINGWALL,
      desired: { core: tree({ [SSH]: "wanted" }), environment: NONE },
      live: { core: tree({ [SSH]: "live", [other]: "x" }), environment: NONE },
    };
    const base = new Map([[`core/${SSH}`, digest("base")]]);
    const drifted = plan({ ...input, base });
    expect(drifted.drift).toEqual([
      { path: `core/${other}`, key: "core/policy/service/new", overwritten: false },
      { path: `core/${SSH}`, key: "core/policy/service/ssh", overwritten: true },
    ]);
    expect(drifted.planSha256).toBe(plan(input).planSha256);
    const settled = plan({ ...input, base: new Map([[`core/${SSH}`, digest("live")]]) });
    expect(settled.drift.map(({ path }) => path)).toEqual([`core/${other}`]);
  });
});

describe("the plan of a gateway", () => {
  const unit = "ignition/store-and-forward-engine/E";

  it("writes a changed unit whole, because a copy hides the inherited one", () => {
    const core = tree({ [`${unit}/resource.json`]: "{}", [`${unit}/config.json`]: "1" });
    const desired = tree({ [`${unit}/resource.json`]: "{}", [`${unit}/config.json`]: "2" });
    const { entries, puts, owned } = plan({
      profile: IGNITION,
      desired: { core: NONE, environment: desired },
      live: { core, environment: NONE },
    });
    expect(entries).toMatchObject([{ status: "changed", liveIn: ["core"], destructive: false }]);
    expect(puts.map(({ path }) => path)).toEqual([...desired.keys()]);
    expect(owned).toEqual([...desired.keys()]);
  });

  it("does not own what it inherits", () => {
    const core = tree({ [`${unit}/config.json`]: "1" });
    const { hasChanges, owned } = plan({
      profile: IGNITION,
      desired: { core: NONE, environment: core },
      live: { core, environment: NONE },
    });
    expect({ hasChanges, owned }).toEqual({ hasChanges: false, owned: [] });
  });

  it("has another digest when a file of a unit differs", () => {
    const digestOf = (text: string) =>
      plan({
        profile: IGNITION,
        desired: { core: NONE, environment: tree({ [`${unit}/config.json`]: text }) },
        live: { core: NONE, environment: NONE },
      }).planSha256;
    expect(digestOf("1")).toBe(digestOf("1"));
    expect(digestOf("1")).not.toBe(digestOf("2"));
  });
});

describe("firstDifference", () => {
  const between = (path: string, live: string, desired: string) =>
    firstDifference(path, Content.ofText(live), Content.ofText(desired));

  it.each([
    ["c.json", '{"a":{"b":1}}', '{"a":{"b":2}}', "another value at $.a.b"],
    ["c.json", '{"a":1,"odd key":1}', '{"a":1}', 'the member $["odd key"] is live only'],
    ["c.json", '{"a":1}', '{"a":1,"b":2}', "the member $.b is not live"],
    ["c.json", '{"a":1,"b":2}', '{"b":2,"a":1}', "another order of the members of $"],
    ["c.json", "[1,2]", "[1]", "the element $[1] is live only"],
    ["c.json", "[1]", "[1,[]]", "the element $[1] is not live"],
    ["c.json", '{"a": 1}', '{"a":1}', "layout only, byte 5 (8 live, 7 declared)"],
    ["c.json", "{", "{}", "line 1"],
    ["c.css", "a\nb\nc", "a\nb\nd", "line 3"],
    ["c.bin", "a\0b", "a\0cc", "byte 2 (3 live, 4 declared)"],
  ])("says where %s differs: %j, %j", (path, live, desired, words) => {
    expect(between(path, live, desired)).toBe(words);
  });
});
