import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { NAMES_FILE } from "@ringwall/agent";
import { Netlab } from "@ringwall/cli/lab";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kernelSuite } from "./kernel-suite.ts";
import { Machine } from "./machine.ts";
import { enforced, type RouteText } from "./policies.ts";

const CONNECTIONS = Number(process.env.RINGWALL_ROUTE_CONNECTIONS ?? "10000");
const V4 = "240.1.2.3";
const V6 = "fd5e:956f:5b7e::123";

kernelSuite("outbound routes", () => {
  let lab: Netlab;
  let caller: Machine;
  const servers: Machine[] = [];

  beforeAll(async () => {
    lab = await Netlab.open("r");
    caller = await Machine.add(lab, "caller", { addresses: ["10.1.0.9/16", "fd00:1::9/64"] });
    const ports = [
      { protocol: "tcp", port: 5432 },
      { protocol: "tcp", port: 6543 },
      { protocol: "udp", port: 53 },
    ] as const;
    for (const index of [1, 2, 3]) {
      const addresses = [`10.1.0.${index}/16`, `fd00:1::${index}/64`];
      servers.push(await Machine.add(lab, `s${index}`, { addresses, ports }));
    }
  });

  afterAll(async () => {
    for (const machine of [caller, ...servers]) await machine?.[Symbol.asyncDispose]();
    await lab?.[Symbol.asyncDispose]();
  });

  const ends = (protocol: string, port: number, service: number, ...indexes: number[]) =>
    indexes.flatMap((index) => [
      `${protocol}/10.1.0.${index}:${port}@${service}`,
      `${protocol}/[fd00:1::${index}]:${port}@${service}`,
    ]);
  const route = (...splits: RouteText["splits"]): RouteText => ({
    outbound: "shop/database",
    v4: V4,
    v6: V6,
    splits,
  });
  const canary = (stable: number[]) =>
    route(
      { key: "version=v1", weight: 90, endpoints: ends("tcp", 5432, 5432, ...stable) },
      { key: "version=v2", weight: 10, endpoints: ends("tcp", 6543, 5432, 3) },
    );
  const tcp = { protocol: "tcp", address: V4, port: 5432 } as const;
  const enforce = (...routes: RouteText[]) => caller.enforce(enforced([], routes));
  const within = (count: number | undefined, share: number, tolerance = 0.02) => {
    const actual = (count ?? 0) / CONNECTIONS;
    expect(Math.abs(actual - share), `${actual} instead of ${share}`).toBeLessThan(tolerance);
  };

  it(`spreads ${CONNECTIONS} connections 90 to 10 over splits and evenly over endpoints`, async () => {
    await enforce(canary([1, 2]));
    const counts = await caller.peer.spread(tcp, CONNECTIONS);
    process.stdout.write(`routes 90/10 over ${CONNECTIONS}: ${JSON.stringify(counts)}\n`);
    expect(Object.keys(counts).sort()).toEqual(["s1", "s2", "s3"]);
    within((counts.s1 ?? 0) + (counts.s2 ?? 0), 0.9);
    within(counts.s3, 0.1);
    within(counts.s1, 0.45);
  });

  it("spreads on IPv6 and UDP as well", async () => {
    const both = [...ends("tcp", 5432, 5432, 1, 2), ...ends("udp", 53, 5300, 1, 2)];
    await enforce(route({ key: "", weight: 100, endpoints: both }));
    const over6 = await caller.peer.spread({ ...tcp, address: V6 }, 400);
    expect(Object.keys(over6).sort()).toEqual(["s1", "s2"]);
    for (const address of [V4, V6]) {
      const udp = { protocol: "udp", address, port: 5300 } as const;
      const counts = await caller.peer.spread(udp, 400);
      expect(Object.keys(counts).sort()).toEqual(["s1", "s2"]);
      expect(counts.s1).toBeGreaterThan(100);
    }
  });

  it("sends no new connection to an endpoint that was removed, and old ones live on", async () => {
    await enforce(canary([1, 2]));
    const keys = Array.from({ length: 20 }, (_, index) => `held${index}`);
    const names = await Promise.all(keys.map((key) => caller.peer.hold(key, tcp)));
    expect(names).toContain("s1");
    await enforce(canary([2]));
    const counts = await caller.peer.spread(tcp, 500);
    expect(counts.s1).toBeUndefined();
    expect(counts.silent).toBeUndefined();
    for (const key of keys) expect(await caller.peer.echo(key)).toBe("open");
  });

  it("gives a split without an endpoint for a family no share there", async () => {
    const only4 = { key: "a", weight: 90, endpoints: ["tcp/10.1.0.1:5432@5432"] };
    const both = { key: "b", weight: 10, endpoints: ends("tcp", 5432, 5432, 2) };
    await enforce(route(only4, both));
    expect(await caller.peer.spread({ ...tcp, address: V6 }, 50)).toEqual({ s2: 50 });
  });

  it("refuses at once what leads nowhere", async () => {
    await enforce(route({ key: "", weight: 100, endpoints: [] }));
    for (const address of [V4, V6]) {
      expect(await caller.peer.try({ protocol: "tcp", address, port: 5432 })).toBe("refused");
    }
    await enforce(canary([1]));
    expect(await caller.peer.try({ ...tcp, port: 9999 })).toBe("refused");
  });

  it("writes the names of outbound services and takes them away with the rules", async () => {
    await enforce(canary([1]));
    const file = join(caller.directory, NAMES_FILE);
    const text = await readFile(file, "utf8");
    expect(text).toContain(`${V4} database.shop.ringwall.internal\n`);
    expect(text).toContain(`${V6} database.shop.ringwall.internal\n`);
    await caller.backend.remove();
    await expect(readFile(file)).rejects.toThrow("ENOENT");
  });
});
