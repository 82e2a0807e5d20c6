import { canonical } from "@ringwall/rendered";
import { EnforcementMode, Protocol } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { differences } from "./compare.ts";
import { compileRuleset } from "./compile.ts";
import { readLiveTable, ruleNames } from "./live-table.ts";
import type { Ruleset } from "./ruleset.ts";

function ruleset(...peerCidrs: string[]): Ruleset {
  return compileRuleset(
    canonical({
      $typeName: "ringwall.v1.WorkloadPolicy",
      version: 1n,
      mode: EnforcementMode.ENFORCED,
      inboundRules: [
        {
          $typeName: "ringwall.v1.ResolvedRule",
          ruleId: "r/tcp",
          protocol: Protocol.TCP,
          ports: [],
          peerCidrs,
        },
      ],
      outboundRoutes: [],
    }),
    {},
  );
}

/** What nft prints of a ruleset, with these members in its sets. */
function printed(of: Ruleset, members: Readonly<Record<string, readonly unknown[]>>, packets = 0) {
  const rules = ruleNames(of).map((name, handle) => {
    const [chain = ""] = name.split(" ", 1);
    const expr = [{ counter: { packets, bytes: packets * 60 } }, { accept: null }];
    return { rule: { chain, handle, comment: name.slice(chain.length + 1), expr } };
  });
  const sets = of.addressSets.map(({ name, type }, index) => ({
    set: { name, type, handle: index, ...(members[name] ? { elem: members[name] } : {}) },
  }));
  const chains = of.chains.map(({ name }, handle) => ({ chain: { name, handle } }));
  return JSON.stringify({ nftables: [{ metainfo: {} }, ...sets, ...chains, ...rules] });
}

const PEERS = ["10.0.0.1/32", "10.0.0.2/32", "10.1.0.0/16", "fd00::1/128", "fd00:1::/32"];
const MEMBERS = {
  r0_hosts4: ["10.0.0.2", "10.0.0.1"],
  r0_nets4: [{ prefix: { addr: "10.1.0.0", len: 16 } }],
  r0_hosts6: ["fd00::1"],
  r0_nets6: [{ prefix: { addr: "fd00:1::", len: 32 } }],
};

describe("differences", () => {
  const expected = ruleset(...PEERS);
  const { frame } = readLiveTable(printed(expected, {}));
  const look = (members: Readonly<Record<string, readonly unknown[]>>) =>
    differences(expected, frame, readLiveTable(printed(expected, members, 7)));

  it("finds none in other order, spelling, handles and counts", () => {
    expect(look(MEMBERS)).toEqual([]);
    const halves = [
      { range: ["10.1.0.0", "10.1.127.255"] },
      { prefix: { addr: "10.1.128.0", len: 17 } },
    ];
    const spelled = ["fd00:0:0:0:0:0:0:1"];
    expect(look({ ...MEMBERS, r0_nets4: halves, r0_hosts6: spelled })).toEqual([]);
  });

  it.each([
    [
      { ...MEMBERS, r0_hosts4: ["10.0.0.1"] },
      "set r0_hosts4 differs: 1 members instead of 2, missing 10.0.0.2",
    ],
    [
      { ...MEMBERS, r0_hosts4: ["10.0.0.1", "10.0.0.2", "10.0.0.3"] },
      "set r0_hosts4 differs: 3 members instead of 2",
    ],
    [
      { ...MEMBERS, r0_nets4: [{ prefix: { addr: "10.0.0.0", len: 8 } }] },
      "set r0_nets4 differs: 1 members instead of 1",
    ],
    [{ ...MEMBERS, r0_nets6: [] }, "set r0_nets6 differs: 0 members instead of 1"],
    [
      { ...MEMBERS, r0_hosts6: [{ strange: true }] },
      "set r0_hosts6 differs: 1 members instead of 1, missing fd00::1",
    ],
  ])("names the set that differs", (members, words) => {
    expect(look(members)).toEqual([words]);
  });

  it("finds a missing table, another body, and chains that nft prints otherwise", () => {
    expect(differences(expected, frame, undefined)).toEqual(["the table is missing"]);
    const other = readLiveTable(printed(ruleset("10.0.0.9/32"), {}));
    expect(differences(expected, frame, other)).toContain("another policy is in force");
    expect(differences(expected, frame, other)).toContain("chains or rules differ");
    const unread = readLiveTable(printed(expected, MEMBERS));
    expect(differences(expected, undefined, unread)).toEqual(["chains or rules differ"]);
  });

  it("finds a rule that is missing even if the frame were as remembered", () => {
    const live = readLiveTable(printed(expected, MEMBERS));
    const short = { ...live, rules: live.rules.slice(1) };
    expect(differences(expected, live.frame, short)).toEqual(["chains or rules differ"]);
  });
});
