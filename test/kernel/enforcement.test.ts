import { inNetns, Netlab, runTool } from "@ringwall/cli/lab";
import { eventually } from "@ringwall/testkit";
import { EnforcementMode, Protocol } from "@ringwall/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kernelSuite } from "./kernel-suite.ts";
import { Machine } from "./machine.ts";
import { enforced, policyOf } from "./policies.ts";

const PORTS = [
  ...[22, 80, 443, 8000, 8005, 8010, 8011].map((port) => ({ protocol: "tcp", port }) as const),
  ...[53, 80].map((port) => ({ protocol: "udp", port }) as const),
];

kernelSuite("enforcement", () => {
  let lab: Netlab;
  let server: Machine;
  let friend: Machine;
  let stranger: Machine;

  beforeAll(async () => {
    lab = await Netlab.open("e");
    server = await Machine.add(lab, "server", {
      addresses: ["10.1.0.1/16", "fd00:1::1/64"],
      ports: PORTS,
      backend: { compile: { alwaysAccept: [{ protocol: "tcp", port: 22 }] } },
    });
    friend = await Machine.add(lab, "friend", { addresses: ["10.1.0.2/16", "fd00:1::2/64"] });
    stranger = await Machine.add(lab, "stranger", { addresses: ["10.1.0.3/16", "fd00:1::3/64"] });
  });

  afterAll(async () => {
    for (const machine of [server, friend, stranger]) await machine?.[Symbol.asyncDispose]();
    await lab?.[Symbol.asyncDispose]();
  });

  const reach = (
    from: Machine,
    protocol: "tcp" | "udp" | "icmp",
    port: number,
    family: 4 | 6 = 4,
  ) => from.peer.try({ protocol, address: server.address(family), port });

  describe.each([4, 6] as const)("on IPv%i", (family) => {
    it("lets in what a rule allows and nothing else, and counts both", async () => {
      await server.enforce(enforced([{ to: "tcp 80", from: [friend.cidr(family)] }]));
      expect(await reach(friend, "tcp", 80, family)).toBe("open");
      expect(await reach(friend, "tcp", 443, family)).toBe("silent");
      expect(await reach(friend, "udp", 80, family)).toBe("silent");
      expect(await reach(stranger, "tcp", 80, family)).toBe("silent");
      const { rulePackets, wouldDrops } = await server.counters();
      expect(rulePackets.get("rule-0/tcp")).toBe(1n);
      expect(wouldDrops).toContainEqual({
        source: stranger.address(family),
        protocol: Protocol.TCP,
        port: 80,
        packets: expect.any(BigInt),
      });
      expect(await server.packets("denied")).toBeGreaterThan(0);
    });

    it("lets UDP in by its rule and answers out", async () => {
      await server.enforce(enforced([{ to: "udp 53", from: [friend.cidr(family)] }]));
      expect(await reach(friend, "udp", 53, family)).toBe("open");
      expect(await reach(stranger, "udp", 53, family)).toBe("silent");
      expect(await reach(friend, "tcp", 80, family)).toBe("silent");
    });

    it("lets ICMP in by its rule only", async () => {
      await server.enforce(enforced([{ to: "icmp", from: [friend.cidr(family)] }]));
      expect(await reach(friend, "icmp", 0, family)).toBe("open");
      expect(await reach(stranger, "icmp", 0, family)).toBe("silent");
      expect(await reach(friend, "tcp", 80, family)).toBe("silent");
    });

    it("takes port ranges to their very ends", async () => {
      await server.enforce(
        enforced([{ to: "tcp 8000-8005,8003-8010", from: [friend.cidr(family)] }]),
      );
      for (const port of [8000, 8005, 8010]) {
        expect(await reach(friend, "tcp", port, family)).toBe("open");
      }
      expect(await reach(friend, "tcp", 8011, family)).toBe("silent");
    });

    it("keeps the host's own rescue open", async () => {
      await server.enforce(enforced([]));
      expect(await reach(stranger, "tcp", 22, family)).toBe("open");
    });

    it("works from an empty neighbour cache while everything else is denied", async () => {
      await server.enforce(enforced([{ to: "tcp 80", from: [friend.cidr(family)] }]));
      for (const machine of [server, friend]) await lab.flushNeighbours(machine.host);
      expect(await reach(friend, "tcp", 80, family)).toBe("open");
      for (const machine of [server, friend]) await lab.flushNeighbours(machine.host);
      const outward = await server.peer.try({
        protocol: "icmp",
        address: friend.address(family),
        port: 0,
      });
      expect(outward).toBe("open");
    });
  });

  it("never opens the other family with 0.0.0.0/0 or ::/0", async () => {
    await server.enforce(enforced([{ to: "tcp 80", from: ["0.0.0.0/0"] }]));
    expect(await reach(friend, "tcp", 80, 4)).toBe("open");
    expect(await reach(friend, "tcp", 80, 6)).toBe("silent");
    await server.enforce(enforced([{ to: "tcp 80", from: ["::/0"] }]));
    expect(await reach(friend, "tcp", 80, 4)).toBe("silent");
    expect(await reach(friend, "tcp", 80, 6)).toBe("open");
  });

  it("asks no more for what had no answer in time", async () => {
    await server.enforce(enforced([]));
    expect(await reach(stranger, "tcp", 80)).toBe("silent");
    const [ip = "ip", ...args] = inNetns(stranger.host.netns, ["ss", "-Htan", "state", "syn-sent"]);
    expect(await runTool(ip, args)).toBe("");
  });

  it("lets in and counts in simulation what enforced mode would drop", async () => {
    await server.enforce(
      policyOf(EnforcementMode.SIMULATION, [{ to: "tcp 443", from: [friend.cidr()] }]),
    );
    expect(await reach(stranger, "tcp", 80)).toBe("open");
    expect(await reach(stranger, "udp", 53, 6)).toBe("open");
    const { wouldDrops } = await server.counters();
    expect(wouldDrops).toEqual([
      { source: "10.1.0.3", protocol: Protocol.TCP, port: 80, packets: 1n },
      { source: "fd00:1::3", protocol: Protocol.UDP, port: 53, packets: 1n },
    ]);
    expect(await server.packets("would be denied")).toBe(2);
  });

  it("counts in visibility and denies nothing", async () => {
    const rules = [{ to: "tcp 80", from: [friend.cidr()] }];
    await server.enforce(policyOf(EnforcementMode.VISIBILITY, rules));
    expect(await reach(friend, "tcp", 80)).toBe("open");
    expect(await reach(stranger, "tcp", 80)).toBe("open");
    expect((await server.counters()).rulePackets.get("rule-0/tcp")).toBe(1n);
    expect(await server.packets("not allowed by a rule")).toBeGreaterThan(0);
  });

  it("drops other protocols in enforced mode and counts them", async () => {
    await server.enforce(
      enforced([
        { to: "tcp", from: ["0.0.0.0/0"] },
        { to: "icmp", from: ["0.0.0.0/0"] },
      ]),
    );
    // A bridge that looks for multicast listeners sends IGMP queries to every host.
    const querier = (on: string) => ["mcast_snooping", "1", "mcast_querier", on];
    const bridge = ["-n", lab.switchNetns, "link", "set", "br0", "type", "bridge"];
    await runTool("ip", [...bridge, ...querier("1")]);
    await eventually(
      "the packet is counted",
      async () => (await server.packets("other protocols")) > 0,
    );
    expect(await server.packets("denied")).toBeGreaterThan(0);
    await runTool("ip", [...bridge, ...querier("0")]);
  });

  it("takes everything away with remove, and nothing of others", async () => {
    await server.nft("add", "table", "inet", "foreign");
    await server.enforce(enforced([]));
    expect(await reach(stranger, "tcp", 80)).toBe("silent");
    await server.backend.remove();
    expect(await reach(stranger, "tcp", 80)).toBe("open");
    expect(await server.nft("list", "tables")).toBe("table inet foreign\n");
    await server.nft("delete", "table", "inet", "foreign");
  });
});
