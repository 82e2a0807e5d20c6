import { canonical } from "@ringwall/rendered";
import { EnforcementMode, Protocol } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { cutScript, flowsToCut, readFlows } from "./nftables-cut.ts";

const LISTING = [
  "tcp      6 431999 ESTABLISHED src=10.0.0.2 dst=10.0.0.1 sport=40000 dport=80 src=10.0.0.1 dst=10.0.0.2 sport=80 dport=40000 [ASSURED] mark=0 use=1",
  // A translated port: what counts is the port here.
  "tcp      6 431999 ESTABLISHED src=10.0.0.3 dst=10.0.0.1 sport=40001 dport=8080 src=10.0.0.1 dst=10.0.0.3 sport=80 dport=40001 [ASSURED] mark=0 use=1",
  "udp      17 29 src=fd00::2 dst=fd00::1 sport=5000 dport=53 src=fd00::1 dst=fd00::2 sport=53 dport=5000 mark=0 use=1",
  // Outward, and within the host.
  "tcp      6 431999 ESTABLISHED src=10.0.0.1 dst=10.0.0.9 sport=50000 dport=443 src=10.0.0.9 dst=10.0.0.1 sport=443 dport=50000 [ASSURED] mark=0 use=1",
  "tcp      6 431999 ESTABLISHED src=10.0.0.1 dst=10.0.0.1 sport=50001 dport=80 src=10.0.0.1 dst=10.0.0.1 sport=80 dport=50001 [ASSURED] mark=0 use=1",
  "icmp     1 29 src=10.0.0.2 dst=10.0.0.1 type=8 code=0 id=1 src=10.0.0.1 dst=10.0.0.2 type=0 code=0 id=1 mark=0 use=1",
  "",
].join("\n");
const LOCAL = new Set(["10.0.0.1", "fd00::1"]);
const FLOWS = readFlows(LISTING, LOCAL);

function policy(mode: EnforcementMode, ...peerCidrs: string[]) {
  const range = { $typeName: "ringwall.v1.PortRange", start: 80, end: 90 } as const;
  return canonical({
    $typeName: "ringwall.v1.WorkloadPolicy",
    version: 1n,
    mode,
    inboundRules: [
      {
        $typeName: "ringwall.v1.ResolvedRule",
        ruleId: "r/tcp",
        protocol: Protocol.TCP,
        ports: [range],
        peerCidrs,
      },
      {
        $typeName: "ringwall.v1.ResolvedRule",
        ruleId: "r/icmp",
        protocol: Protocol.ICMP,
        ports: [],
        peerCidrs: ["0.0.0.0/0", "::/0"],
      },
    ],
    outboundRoutes: [],
  });
}

describe("readFlows", () => {
  it("reads what came from elsewhere, with the port here", () => {
    expect(FLOWS).toEqual([
      { family: "ip", protocol: "tcp", source: "10.0.0.2", sourcePort: 40_000, port: 80 },
      { family: "ip", protocol: "tcp", source: "10.0.0.3", sourcePort: 40_001, port: 80 },
      { family: "ip6", protocol: "udp", source: "fd00::2", sourcePort: 5000, port: 53 },
    ]);
  });
});

describe("flowsToCut", () => {
  const { ENFORCED, SIMULATION } = EnforcementMode;
  const sources = (...parameters: Parameters<typeof flowsToCut>) =>
    flowsToCut(...parameters).map(({ source }) => source);

  it("keeps what a rule allows by host or prefix, and families apart", () => {
    expect(sources(policy(ENFORCED, "10.0.0.2/32"), [], FLOWS)).toEqual(["10.0.0.3", "fd00::2"]);
    expect(sources(policy(ENFORCED, "10.0.0.0/30"), [], FLOWS)).toEqual(["fd00::2"]);
    expect(sources(policy(ENFORCED, "::/0"), [], FLOWS)).toHaveLength(3);
  });

  it("keeps the host's own rescue, and everything where nothing is denied", () => {
    const rescue = [{ protocol: "udp", port: 53 }] as const;
    expect(sources(policy(ENFORCED, "10.0.0.0/30"), rescue, FLOWS)).toEqual([]);
    expect(sources(policy(SIMULATION), [], FLOWS)).toEqual([]);
  });
});

describe("cutScript", () => {
  it("names flows by source, protocol and ports, family by family", () => {
    expect(cutScript(FLOWS)).toBe(
      "add element inet ringwall cut4 { 10.0.0.2 . tcp . 40000 . 80, 10.0.0.3 . tcp . 40001 . 80 }\n" +
        "add element inet ringwall cut6 { fd00::2 . udp . 5000 . 53 }\n",
    );
    expect(cutScript([])).toBeUndefined();
  });
});
