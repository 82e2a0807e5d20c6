import { spawnSync } from "node:child_process";
import { create } from "@bufbuild/protobuf";
import { canonical } from "@ringwall/rendered";
import { EnforcementMode, Protocol, WorkloadPolicySchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { compileNftables } from "./compile.ts";

const NFT = process.getuid?.() === 0 && spawnSync("nft", ["--version"]).status === 0;

function compile(
  mode: EnforcementMode,
  peers: string[],
  protocol: Protocol = Protocol.TCP,
  ruleId = "r/tcp",
) {
  const ports =
    protocol === Protocol.ICMP
      ? []
      : [
          { start: 80, end: 80 },
          { start: 80, end: 90 },
        ];
  return compileNftables(
    canonical(
      create(WorkloadPolicySchema, {
        mode,
        inboundRules: [{ ruleId, peerCidrs: peers, protocol, ports }],
      }),
    ),
    { alwaysAccept: [{ protocol: "tcp", port: 22 }] },
  );
}

const PEERS = ["10.0.0.0/8", "10.0.0.1/32", "::/0", "2001:db8::1/128"];

describe("compileNftables", () => {
  it("replaces the one table whole", () => {
    const script = compile(EnforcementMode.ENFORCED, PEERS);
    expect(script.startsWith("table inet ringwall\ndelete table inet ringwall\n")).toBe(true);
  });

  it("differs between enforced and simulation in the last rule only", () => {
    const enforced = compile(EnforcementMode.ENFORCED, PEERS).split("\n");
    const simulation = compile(EnforcementMode.SIMULATION, PEERS).split("\n");
    const different = enforced.filter((line, index) => line !== simulation[index]);
    expect(different).toEqual(['    counter drop comment "denied"']);
  });

  it("keeps the host's own rescue open before anything is denied", () => {
    const script = compile(EnforcementMode.ENFORCED, []);
    expect(script.indexOf("tcp dport 22 accept")).toBeLessThan(script.indexOf("counter drop"));
  });

  it.each(["10.0.0.1/32 }; flush ruleset", "fe80::1%eth0/128", "10.0.0.1/33", "x"])(
    "refuses the peer %s",
    (peer) => {
      expect(() => compile(EnforcementMode.ENFORCED, [peer])).toThrow("is not a CIDR");
    },
  );

  it("lets no rule id end its comment", () => {
    const script = compile(EnforcementMode.ENFORCED, PEERS, Protocol.TCP, 'a"\naccept');
    expect(script).toContain('comment "a__accept"');
  });

  it.skipIf(!NFT).each([Protocol.TCP, Protocol.UDP, Protocol.ICMP])(
    "is taken by nft with overlapping peers and ports, protocol %s",
    (protocol) => {
      const script = compile(EnforcementMode.ENFORCED, PEERS, protocol);
      const run = spawnSync("nft", ["-c", "-f", "-"], { input: script, encoding: "utf8" });
      expect(run.stderr).toBe("");
      expect(run.status).toBe(0);
    },
  );
});
