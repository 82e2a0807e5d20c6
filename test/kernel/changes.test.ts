import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyPolicy, FileStore, type PolicyRecord } from "@ringwall/agent";
import { Netlab } from "@ringwall/cli/lab";
import { bodyDigest, type Canonical } from "@ringwall/rendered";
import { EnforcementMode, type WorkloadPolicy } from "@ringwall/wire";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kernelSuite } from "./kernel-suite.ts";
import { Machine } from "./machine.ts";
import { enforced, policyOf } from "./policies.ts";

const FLIP_SECONDS = Number(process.env.RINGWALL_FLIP_SECONDS ?? "60");

kernelSuite("changes of policy", () => {
  let lab: Netlab;
  let server: Machine;
  let cutter: Machine;
  let friend: Machine;
  let other: Machine;

  beforeAll(async () => {
    lab = await Netlab.open("c");
    const ports = [80, 81, 82, 22].map((port) => ({ protocol: "tcp", port }) as const);
    server = await Machine.add(lab, "server", {
      addresses: ["10.1.0.1/16", "fd00:1::1/64"],
      ports,
    });
    cutter = await Machine.add(lab, "cutter", {
      addresses: ["10.1.0.9/16", "fd00:1::9/64"],
      ports,
      backend: {
        cutEstablished: true,
        compile: { alwaysAccept: [{ protocol: "tcp", port: 22 }] },
      },
    });
    friend = await Machine.add(lab, "friend", { addresses: ["10.1.0.2/16", "fd00:1::2/64"] });
    other = await Machine.add(lab, "other", { addresses: ["10.1.0.3/16", "fd00:1::3/64"] });
  });

  afterAll(async () => {
    for (const machine of [server, cutter, friend, other]) await machine?.[Symbol.asyncDispose]();
    await lab?.[Symbol.asyncDispose]();
  });

  const to = (machine: Machine, port: number, family: 4 | 6 = 4) =>
    ({ protocol: "tcp", address: machine.address(family), port }) as const;

  it("leaves a connection alive that was established before it was forbidden", async () => {
    await server.enforce(enforced([{ to: "tcp 80", from: [friend.cidr()] }]));
    await friend.peer.hold("old", to(server, 80));
    await server.enforce(enforced([]));
    expect(await friend.peer.echo("old")).toBe("open");
    expect(await friend.peer.try(to(server, 80))).toBe("silent");
  });

  it.each([4, 6] as const)(
    "cuts established IPv%i flows off when it is told to, and only those",
    async (family) => {
      const from = [friend.cidr(family), other.cidr(family)];
      await cutter.enforce(enforced([{ to: "tcp 80", from }]));
      await friend.peer.hold(`kept${family}`, to(cutter, 80, family));
      await other.peer.hold(`cut${family}`, to(cutter, 80, family));
      await other.peer.hold(`rescue${family}`, to(cutter, 22, family));
      await cutter.enforce(enforced([{ to: "tcp 80", from: [friend.cidr(family)] }]));
      expect(await friend.peer.echo(`kept${family}`)).toBe("open");
      expect(await other.peer.echo(`rescue${family}`)).toBe("open");
      expect(await other.peer.echo(`cut${family}`)).toBe("silent");
      expect(await cutter.packets("cut off")).toBeGreaterThan(0);
      await cutter.enforce(enforced([{ to: "tcp 80", from }]));
      expect(await other.peer.try(to(cutter, 80, family))).toBe("open");
    },
  );

  it("keeps the old ruleset and the old file when an install is refused", async () => {
    const directory = await mkdtemp(join(tmpdir(), "ringwall-refused-"));
    const store = new FileStore("server", directory);
    const good = record(enforced([{ to: "tcp 80", from: [friend.cidr()] }]));
    const bad = record(enforced([{ to: "tcp 80", from: ["::ffff:10.0.0.0/104"] }]));
    const order = { previous: undefined, installed: false };
    await store.probe();
    expect(await applyPolicy(server.backend, store, { record: good, ...order })).toEqual({
      kind: "applied",
    });
    const before = await server.nft("list", "table", "inet", "ringwall");
    const file = await readFile(join(directory, "policy"));
    const outcome = await applyPolicy(server.backend, store, { record: bad, ...order });
    expect(outcome).toEqual({
      kind: "refused",
      detail: expect.stringContaining("is an IPv4-mapped prefix; write 10.0.0.0/8"),
    });
    expect(await server.nft("list", "table", "inet", "ringwall")).toBe(before);
    expect(await readFile(join(directory, "policy"))).toEqual(file);
    expect((await store.load()).record?.digest).toBe(good.digest);
    expect(await friend.peer.try(to(server, 80))).toBe("open");
    await rm(directory, { recursive: true });
  });

  it("keeps the ruleset when the kernel itself refuses a load", async () => {
    const policy = enforced([{ to: "tcp 80", from: [friend.cidr()] }]);
    await server.enforce(policy);
    // A chain that is referred to can't be deleted with its table's other contents in between: nft
    // complains about the transaction as a whole, which has to leave everything as it was.
    const before = await server.nft("list", "table", "inet", "ringwall");
    await expect(
      server.nft("delete table inet ringwall; add rule inet ringwall nochain accept"),
    ).rejects.toThrow();
    expect(await server.nft("list", "table", "inet", "ringwall")).toBe(before);
    expect(await server.backend.drift(policy)).toEqual({ repaired: 0, detail: "" });
  });

  it(`refuses no allowed flow and passes no denied one while policies flip for ${FLIP_SECONDS} s`, {
    timeout: (FLIP_SECONDS + 60) * 1000,
  }, async () => {
    // Port 80 from friend is allowed in both, port 82 in none; everything else changes.
    const stay = { id: "stay/tcp", to: "tcp 80", from: [friend.cidr(), friend.cidr(6)] };
    const crowd = Array.from({ length: 500 }, (_, i) => `10.7.${i >> 8}.${i & 255}/32`);
    const first = enforced([stay, { id: "a/tcp", to: "tcp 81", from: crowd }]);
    const widened = { ...stay, from: ["10.1.0.0/24", friend.cidr(), friend.cidr(6)] };
    const flips = [
      first,
      enforced([stay, { id: "a/tcp", to: "tcp 81", from: [...crowd, other.cidr()] }]),
      enforced([stay]),
      enforced([widened, { id: "b/udp", to: "udp 80-90", from: ["0.0.0.0/0", "::/0"] }]),
      first,
    ];
    await server.enforce(first);
    const options = { durationMs: FLIP_SECONDS * 1000, timeoutMs: 5000, width: 8 };
    const quick = { durationMs: FLIP_SECONDS * 1000, timeoutMs: 250, width: 8 };
    let running = true;
    let flipped = 0;
    const kinds: Record<string, number> = {};
    const flipping = (async () => {
      while (running) {
        const how = await server.enforce(flips[flipped++ % flips.length] ?? first);
        kinds[how] = (kinds[how] ?? 0) + 1;
      }
    })();
    const [allowed4, allowed6, denied4, denied6] = await Promise.all([
      friend.peer.hammer(to(server, 80), options),
      friend.peer.hammer(to(server, 80, 6), options),
      other.peer.hammer(to(server, 82), quick),
      other.peer.hammer(to(server, 82, 6), quick),
    ]);
    running = false;
    await flipping;
    process.stdout.write(
      `I5: ${flipped} flips ${JSON.stringify(kinds)}, allowed ${JSON.stringify([allowed4, allowed6])}, denied ${JSON.stringify([denied4, denied6])}\n`,
    );
    for (const allowed of [allowed4, allowed6]) expect(Object.keys(allowed)).toEqual(["open"]);
    for (const denied of [denied4, denied6]) expect(Object.keys(denied)).toEqual(["silent"]);
    expect(flipped).toBeGreaterThan(FLIP_SECONDS);
  });

  it("changes modes without a gap for an allowed flow", async () => {
    const rules = [{ to: "tcp 80", from: [friend.cidr()] }];
    await server.enforce(enforced(rules));
    let running = true;
    const flipping = (async () => {
      for (let round = 0; running; round += 1) {
        const mode = round % 2 === 0 ? EnforcementMode.SIMULATION : EnforcementMode.ENFORCED;
        await server.enforce(policyOf(mode, rules));
      }
    })();
    const options = { durationMs: 2000, timeoutMs: 5000, width: 8 };
    const counts = await friend.peer.hammer(to(server, 80), options);
    running = false;
    await flipping;
    expect(Object.keys(counts)).toEqual(["open"]);
  });
});

function record(policy: Canonical<WorkloadPolicy>): PolicyRecord {
  return { workload: "server", epoch: 1n, digest: bodyDigest(policy), inputs: undefined, policy };
}
