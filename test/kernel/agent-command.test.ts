import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileStore } from "@ringwall/agent";
import { inNetns, Netlab, runTool } from "@ringwall/cli/lab";
import { bodyDigest } from "@ringwall/rendered";
import { eventually } from "@ringwall/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { cleanEnvironment, MAIN } from "../e2e/command.ts";
import { kernelSuite } from "./kernel-suite.ts";
import { Machine } from "./machine.ts";
import { enforced } from "./policies.ts";

/** One life of one host: the steps build on each other. */
kernelSuite("ringwall agent", () => {
  let lab: Netlab;
  let server: Machine;
  let caller: Machine;
  let stateDir: string;
  let running: ChildProcess;
  const digest = () => bodyDigest(policy());
  const policy = () =>
    enforced(
      [{ id: "web/tcp", to: "tcp 80", from: [caller.cidr()] }],
      [
        {
          outbound: "shop/database",
          v4: "240.1.2.3",
          splits: [
            { key: "version=v1", weight: 3, endpoints: ["tcp/10.1.0.2:5432@5432"] },
            { key: "version=v2", weight: 1, endpoints: ["tcp/10.1.0.3:5432@5432"] },
          ],
        },
      ],
    );

  beforeAll(async () => {
    lab = await Netlab.open("k");
    const ports = [{ protocol: "tcp", port: 80 }] as const;
    server = await Machine.add(lab, "server", { addresses: ["10.1.0.1/16"], ports });
    caller = await Machine.add(lab, "caller", { addresses: ["10.1.0.2/16"] });
    stateDir = await mkdtemp(join(tmpdir(), "ringwall-command-"));
    const files = new FileStore("server", stateDir);
    await files.probe();
    await files.prepare({
      workload: "server",
      epoch: 1n,
      digest: digest(),
      inputs: undefined,
      policy: policy(),
    });
    await files.commit();
  });

  afterAll(async () => {
    running?.kill("SIGKILL");
    for (const machine of [server, caller]) await machine?.[Symbol.asyncDispose]();
    await lab?.[Symbol.asyncDispose]();
    await rm(stateDir, { recursive: true, force: true });
  });

  const command = (...args: readonly string[]) =>
    inNetns(server.host.netns, [process.execPath, MAIN, "--json", "agent", ...args]);
  const place = () => ["--workload", "server", "--state-dir", stateDir];
  const read = async (...args: readonly string[]): Promise<unknown> => {
    const [binary = "ip", ...rest] = command(...args, ...place());
    return JSON.parse(await runTool(binary, rest));
  };

  it("runs the agent with the options that it is given", async () => {
    const bus = ["--nats-url", "nats://10.1.255.254:4222"];
    const [binary = "ip", ...rest] = command("run", ...bus, ...place(), "--backend", "nftables");
    running = spawn(binary, rest, { stdio: "ignore", env: cleanEnvironment() });
    await eventually(
      "it enforces",
      () => server.backend.current(),
      (body) => body === digest(),
      60_000,
    );
    expect(await read("status")).toMatchObject({
      workload: "server",
      stored: { version: 1, mode: "ENFORCED", rules: 1, peers: 1, routes: 1 },
      inForce: digest(),
      agrees: true,
      faults: [],
    });
  });

  it("counts by rule, and what no rule allows", async () => {
    await caller.peer.try({ protocol: "tcp", address: server.address(), port: 80 });
    await caller.peer.try({ protocol: "tcp", address: server.address(), port: 81 });
    expect(await read("counters")).toMatchObject({
      rules: [{ rule: "web/tcp", packets: 1 }],
      others: expect.arrayContaining([{ rule: "denied", packets: expect.any(Number) }]),
      notAllowed: [{ source: "10.1.0.2", port: 81 }],
    });
  });

  it("shows where outbound services lead", async () => {
    const service = {
      outbound: "shop/database",
      virtualAddress: "240.1.2.3",
      servicePort: "tcp/5432",
    };
    expect(await read("routes")).toMatchObject([
      { ...service, split: "version=v1", share: 0.75, endpoints: ["10.1.0.2:5432"] },
      { ...service, split: "version=v2", share: 0.25, endpoints: ["10.1.0.3:5432"] },
    ]);
    expect(await read("routes", "--hosts")).toEqual({
      hosts: expect.stringContaining("240.1.2.3 database.shop.ringwall.internal\n"),
    });
  });

  it("stops with the command, and only `down` takes the rules away", async () => {
    const ended = new Promise((resolve) => running.once("exit", resolve));
    running.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(await server.backend.current()).toBe(digest());
    expect(await read("down")).toEqual({ removed: true, body: digest() });
    expect(await server.backend.current()).toBeUndefined();
    expect(await read("status")).toMatchObject({ inForce: "", agrees: false });
  });
});
