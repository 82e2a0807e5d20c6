import { Netlab } from "@ringwall/cli/lab";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kernelSuite } from "./kernel-suite.ts";
import { Machine } from "./machine.ts";
import { enforced } from "./policies.ts";

const WHOLE = "loaded whole";
const STEP = "changed peers";

kernelSuite("sets of peers", () => {
  let lab: Netlab;
  let server: Machine;
  let caller: Machine;

  beforeAll(async () => {
    lab = await Netlab.open("s");
    server = await Machine.add(lab, "server", {
      addresses: ["10.1.0.1/8", "fd00:1::1/64"],
      ports: [80, 81].map((port) => ({ protocol: "tcp", port }) as const),
    });
    caller = await Machine.add(lab, "caller", { addresses: ["10.2.3.4/8", "fd00:1::2/64"] });
  });

  afterAll(async () => {
    for (const machine of [server, caller]) await machine?.[Symbol.asyncDispose]();
    await lab?.[Symbol.asyncDispose]();
  });

  const reach = (family: 4 | 6 = 4, port = 80) =>
    caller.peer.try({ protocol: "tcp", address: server.address(family), port }, 700);
  const peers = (...from: string[]) => server.enforce(enforced([{ to: "tcp 80", from }]));
  const noDrift = async (...from: string[]) => {
    const policy = enforced([{ to: "tcp 80", from }]);
    expect(await server.backend.drift(policy)).toEqual({ repaired: 0, detail: "" });
  };

  it.each([
    [["10.0.0.0/8", "10.0.0.1/32"]],
    [["::/0", "fd00:1::2/128"]],
    [["0.0.0.0/0", "10.2.0.0/16", "10.2.3.0/24", "10.2.3.4/32", "::/0", "fd00::/8"]],
    [["10.2.3.0/25", "10.2.3.128/25", "10.2.2.0/24"]],
  ])("installs overlapping and adjacent peers %j", async (from) => {
    await peers(...from);
    const families = [4, 6] as const;
    for (const family of families) {
      const wanted = from.some((each) => each.includes(":") === (family === 6));
      expect(await reach(family)).toBe(wanted ? "open" : "silent");
    }
    await noDrift(...from);
  });

  it("widens and narrows a prefix in place, back and forth", async () => {
    const rest = ["172.16.0.0/12", "192.168.0.0/24"];
    await peers("10.9.9.0/24", ...rest);
    expect(await reach()).toBe("silent");
    for (let round = 0; round < 3; round += 1) {
      expect(await peers("10.2.0.0/16", ...rest)).toBe(STEP);
      expect(await reach()).toBe("open");
      expect(await peers("10.2.3.0/24", ...rest)).toBe(STEP);
      expect(await reach()).toBe("open");
      expect(await peers("10.2.4.0/24", ...rest)).toBe(STEP);
      expect(await reach()).toBe("silent");
      await noDrift("10.2.4.0/24", ...rest);
    }
  });

  it("moves a host between its plain set and a prefix that covers it", async () => {
    const rest = ["10.99.0.0/16", "10.98.0.1/32"];
    await peers("10.2.3.4/32", ...rest);
    expect(await reach()).toBe("open");
    expect(await peers("10.2.3.4/32", "10.2.0.0/16", ...rest)).toBe(STEP);
    expect(await reach()).toBe("open");
    expect(await peers("10.2.3.4/32", ...rest)).toBe(STEP);
    expect(await reach()).toBe("open");
    expect(await peers(...rest)).toBe(STEP);
    expect(await reach()).toBe("silent");
    await noDrift(...rest);
  });

  it("loads 65,536 peers, steps by one of them, and removes them all", async () => {
    const many = Array.from({ length: 65_536 }, (_, i) => `11.0.${(i >> 8) & 255}.${i & 255}/32`);
    const load = await peers(...many);
    expect(load).toBe(WHOLE);
    expect(await reach()).toBe("silent");
    expect(await peers(...many.slice(1), "10.2.3.4/32")).toBe(STEP);
    expect(await reach()).toBe("open");
    await noDrift(...many.slice(1), "10.2.3.4/32");
    expect(await peers(...many)).toBe(STEP);
    expect(await reach()).toBe("silent");
    expect(await peers()).toBe(WHOLE);
    expect(await server.nft("list", "table", "inet", "ringwall")).not.toContain("r0_hosts4");
  });

  it("removes a rule and leaves the others alone", async () => {
    const rule = (port: number) => ({
      id: `${port}/tcp`,
      to: `tcp ${port}`,
      from: ["10.2.3.4/32"],
    });
    await server.enforce(enforced([rule(80), rule(81)]));
    expect([await reach(4, 80), await reach(4, 81)]).toEqual(["open", "open"]);
    await server.enforce(enforced([rule(81)]));
    expect([await reach(4, 80), await reach(4, 81)]).toEqual(["silent", "open"]);
  });

  it("falls back to one whole load when the live set is not what it should be", async () => {
    await peers("10.2.3.4/32", "10.2.3.5/32");
    await server.nft("delete", "element", "inet", "ringwall", "r0_hosts4", "{ 10.2.3.5 }");
    expect(await peers("10.2.3.4/32", "10.2.3.6/32")).toBe(WHOLE);
    expect(await reach()).toBe("open");
    await server.nft("delete", "table", "inet", "ringwall");
    expect(await peers("10.2.3.4/32", "10.2.3.7/32")).toBe(WHOLE);
    await noDrift("10.2.3.4/32", "10.2.3.7/32");
  });
});
