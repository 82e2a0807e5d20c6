import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { canonical } from "@ringwall/rendered";
import {
  EnforcementMode,
  type OutboundRoute,
  PortRangeSchema,
  Protocol,
  type ResolvedRule,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { compileNftables, compileRuleset } from "./compile.ts";
import { deltaScript } from "./script.ts";

const NFT = process.getuid?.() === 0 && spawnSync("nft", ["--version"]).status === 0;

type Rule = Partial<Omit<ResolvedRule, "$typeName">>;
type Route = Partial<Omit<OutboundRoute, "$typeName" | "splits">> & {
  splits?: { key: string; weight: number; endpoints: string[] }[];
};

function spans(...ranges: readonly (readonly [number, number])[]) {
  return ranges.map(([start, end]) => create(PortRangeSchema, { start, end }));
}

function policy(mode: EnforcementMode, rules: readonly Rule[], routes: readonly Route[] = []) {
  return canonical(
    create(WorkloadPolicySchema, {
      mode,
      inboundRules: rules.map((rule) => ({ ruleId: "r/tcp", protocol: Protocol.TCP, ...rule })),
      outboundRoutes: [...routes],
    }),
  );
}

const { ENFORCED, SIMULATION, VISIBILITY, UNSPECIFIED } = EnforcementMode;
const PEERS = ["10.0.0.0/8", "10.0.0.1/32", "::/0", "2001:db8::1/128"];
const RESCUE = { alwaysAccept: [{ protocol: "tcp", port: 22 }] } as const;

const FULL: readonly Rule[] = [
  { ruleId: "0b1c/tcp", peerCidrs: [...PEERS, "192.168.7.1/32"], ports: spans([80, 80]) },
  {
    ruleId: "0b1c/udp",
    protocol: Protocol.UDP,
    peerCidrs: ["fd00::1/128", "fd00:1::/32", "fd00:1:2::/48"],
    ports: spans([53, 53], [8000, 8010], [8005, 8020], [8021, 8021]),
  },
  { ruleId: "2d3e/icmp", protocol: Protocol.ICMP, peerCidrs: ["10.0.0.0/8", "fd00::/8"] },
  { ruleId: "4f5a/tcp", peerCidrs: ["0.0.0.0/0"], ports: spans([0, 65_535]) },
  { ruleId: "6b7c/tcp", peerCidrs: [] },
];

const ROUTES: Route[] = [
  {
    outbound: "shop/payments",
    route: "shop/canary",
    virtualAddressV4: "240.17.3.9",
    virtualAddressV6: "fd5e:956f:5b7e::9",
    splits: [
      {
        key: "version=v1",
        weight: 90,
        endpoints: [
          "tcp/10.20.4.11:8444@8444",
          "tcp/10.20.4.13:8444@8444",
          "tcp/[fd00::11]:8444@8444",
        ],
      },
      { key: "version=v2", weight: 10, endpoints: ["tcp/10.20.4.12:9444@8444"] },
    ],
  },
  {
    outbound: "ops/metrics",
    virtualAddressV4: "240.0.0.7",
    splits: [{ key: "", weight: 100, endpoints: ["udp/10.20.7.11:8125@8125"] }],
  },
  { outbound: "ops/nobody", virtualAddressV4: "240.0.0.8", splits: [] },
];

function golden(name: string): string {
  return readFileSync(new URL(`golden/${name}.golden.nft`, import.meta.url), "utf8");
}

const compile = (mode: EnforcementMode, rules: readonly Rule[] = FULL, routes: Route[] = []) =>
  compileNftables(policy(mode, rules, routes), RESCUE);

describe("compileNftables", () => {
  it.each([
    ["enforced", ENFORCED],
    ["simulation", SIMULATION],
    ["visibility", VISIBILITY],
  ] as const)("writes the reviewed script in mode %s", async (name, mode) => {
    await expect(compile(mode)).toMatchFileSnapshot(`golden/${name}.golden.nft`);
  });

  it("writes the reviewed script of outbound routes", async () => {
    await expect(compile(ENFORCED, [], ROUTES)).toMatchFileSnapshot("golden/routes.golden.nft");
  });

  it("differs between modes in the digest and the last rule only", () => {
    const texts = ["enforced", "simulation", "visibility"].map((name) => golden(name).split("\n"));
    const [enforced = [], ...others] = texts;
    for (const other of others) {
      const different = enforced.filter((line, index) => line !== other[index]);
      expect(different).toEqual([
        expect.stringContaining("chain body_"),
        '    counter drop comment "denied"',
      ]);
    }
  });

  it("keeps the host's own rescue open before anything is denied", () => {
    const script = compile(ENFORCED, []);
    expect(script.indexOf("tcp dport 22 counter accept")).toBeGreaterThan(0);
    expect(script.indexOf("tcp dport 22")).toBeLessThan(script.indexOf('drop comment "denied"'));
  });

  it("logs as many packets as it is told, or none", () => {
    const of = (logPerSecond: number) => compileNftables(policy(ENFORCED, []), { logPerSecond });
    expect(of(7)).toContain("limit rate 7/second");
    expect(of(0)).not.toContain("log prefix");
  });

  it.each(["10.0.0.1/32 }; flush ruleset", "fe80::1%eth0/128", "10.0.0.1/33", "x", "1::2::3/64"])(
    "refuses the peer %s",
    (peer) => {
      expect(() => compile(ENFORCED, [{ peerCidrs: [peer] }])).toThrow("is not a CIDR");
    },
  );

  it("refuses an IPv4-mapped prefix and says what to write", () => {
    expect(() => compile(ENFORCED, [{ peerCidrs: ["::ffff:10.1.0.0/112"] }])).toThrow(
      'peer "::ffff:10.1.0.0/112" of rule "r/tcp" is an IPv4-mapped prefix; write 10.1.0.0/16',
    );
  });

  it("refuses a policy without a mode, which nobody may read as permission", () => {
    expect(() => compile(UNSPECIFIED)).toThrow("mode 0 is not known");
  });

  it.each(["10.0.0.9", "2001:db8::1"])("refuses to capture %s as a virtual address", (address) => {
    const place = address.includes(":")
      ? { virtualAddressV6: address }
      : { virtualAddressV4: address };
    expect(() => compile(ENFORCED, [], [{ outbound: "a/b", ...place }])).toThrow(
      `virtual address "${address}" of outbound "a/b" is not in`,
    );
  });

  it.each(["tcp/10.0.0.1:99999@80", "sctp/10.0.0.1:80@80", "tcp/10.0.0.1 }:80@80", ""])(
    "refuses the endpoint %j",
    (endpoint) => {
      const splits = [{ key: "", weight: 1, endpoints: [endpoint] }];
      const route = { outbound: "a/b", virtualAddressV4: "240.0.0.1", splits };
      expect(() => compile(ENFORCED, [], [route])).toThrow();
    },
  );

  it("lets no rule id end its comment, and no two share one", () => {
    const { ruleIds } = compileRuleset(
      policy(ENFORCED, [
        { ruleId: 'a"\naccept' },
        { ruleId: "a__accept" },
        { ruleId: "x".repeat(300) },
      ]),
      {},
    );
    expect([...ruleIds.values()]).toHaveLength(3);
    for (const comment of ruleIds.keys()) {
      expect(comment).toMatch(/^[A-Za-z0-9 ._/:@-]{1,128}$/);
    }
  });

  it("scales weights that nft's number generator can't draw from", () => {
    const splits = [1, 2].map((index) => ({
      key: `k=${index}`,
      weight: 0xffff_ffff,
      endpoints: [`tcp/10.0.0.${index}:80@80`],
    }));
    const script = compile(
      ENFORCED,
      [],
      [{ outbound: "a/b", virtualAddressV4: "240.0.0.1", splits }],
    );
    const modulus = Number(/numgen random mod (\d+) vmap/.exec(script)?.[1]);
    expect(modulus).toBeLessThanOrEqual(0xffff_ffff);
    expect(modulus).toBeGreaterThan(0xffff_fff0);
  });

  it.skipIf(!NFT)("is taken by nft, routes and a thousand rules included", () => {
    const many = Array.from({ length: 1000 }, (_, index) => ({
      ...FULL[index % FULL.length],
      ruleId: `${index}/x`,
    }));
    const script = compile(ENFORCED, many, ROUTES);
    const run = spawnSync("nft", ["-c", "-f", "-"], { input: script, encoding: "utf8" });
    expect(run.stderr).toBe("");
    expect(run.status).toBe(0);
  });
});

describe("deltaScript", () => {
  const step = (from: string[], to: string[], mode: EnforcementMode = ENFORCED) => {
    const base = compileRuleset(policy(ENFORCED, [{ peerCidrs: from }]), {});
    const keep = new Set(base.addressSets.map(({ name }) => name));
    return deltaScript(base, compileRuleset(policy(mode, [{ peerCidrs: to }]), {}, keep));
  };

  it("deletes before it adds, so that a prefix can take another's place", () => {
    const script = step(["10.1.0.0/24", "10.2.0.0/24"], ["10.1.0.0/16", "10.2.0.0/24"]) ?? "";
    const verbs = script.split("\n").map((line) => line.split(" ", 2).join(" "));
    expect(script).toContain("delete element inet ringwall r0_nets4 { 10.1.0.0/24 }");
    expect(script).toContain("add element inet ringwall r0_nets4 { 10.1.0.0/16 }");
    expect(verbs.indexOf("delete element")).toBeLessThan(verbs.indexOf("add element"));
  });

  it("takes a host out of its plain set when a prefix begins to cover it", () => {
    const script = step(["10.0.0.1/32", "11.0.0.0/8"], ["10.0.0.0/8", "10.0.0.1/32", "11.0.0.0/8"]);
    expect(script).toContain("delete element inet ringwall r0_hosts4 { 10.0.0.1 }");
    expect(script).toContain("add element inet ringwall r0_nets4 { 10.0.0.0/8 }");
  });

  it("keeps a set that loses its last member", () => {
    expect(step(["10.0.0.1/32"], [])).toContain("delete element inet ringwall r0_hosts4");
  });

  it("is not possible where a kind of peer, the mode or nearly everything changes", () => {
    expect(step(["10.0.0.1/32"], ["10.0.0.1/32", "fd00::1/128"])).toBeUndefined();
    expect(step(["10.0.0.1/32"], ["10.0.0.1/32"], SIMULATION)).toBeUndefined();
    const net = (first: number) => Array.from({ length: 100 }, (_, i) => `10.${first}.0.${i}/32`);
    expect(step(net(1), net(2))).toBeUndefined();
  });
});
