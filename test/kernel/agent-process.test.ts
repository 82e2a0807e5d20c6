import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileStore } from "@ringwall/agent";
import { Netlab, runTool } from "@ringwall/cli/lab";
import { bodyDigest, type Canonical } from "@ringwall/rendered";
import { eventually } from "@ringwall/testkit";
import type { WorkloadPolicy } from "@ringwall/wire";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AgentProcess } from "./agent-process.ts";
import { kernelSuite } from "./kernel-suite.ts";
import { Machine } from "./machine.ts";
import { enforced } from "./policies.ts";

const NOBODY = 65_534;

kernelSuite("the agent's process", () => {
  let lab: Netlab;
  let server: Machine;
  let friend: Machine;
  let stranger: Machine;
  let directory: string;
  let stateDir: string;
  let agents: AgentProcess[];

  beforeAll(async () => {
    lab = await Netlab.open("a");
    server = await Machine.add(lab, "server", {
      addresses: ["10.1.0.1/16"],
      ports: [{ protocol: "tcp", port: 80 }],
    });
    friend = await Machine.add(lab, "friend", {
      addresses: ["10.1.0.2/16"],
      ports: [{ protocol: "tcp", port: 4222 }],
    });
    stranger = await Machine.add(lab, "stranger", { addresses: ["10.1.0.3/16"] });
  });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "ringwall-agent-"));
    stateDir = join(directory, "state");
    agents = [];
    await server.nft("flush", "ruleset");
  });

  afterEach(async () => {
    for (const agent of agents) await agent.crash();
    await rm(directory, { recursive: true });
  });

  afterAll(async () => {
    for (const machine of [server, friend, stranger]) await machine?.[Symbol.asyncDispose]();
    await lab?.[Symbol.asyncDispose]();
  });

  const start = (options: Partial<ConstructorParameters<typeof AgentProcess>[1]> = {}) => {
    const agent = new AgentProcess(server.host, { stateDir, ...options });
    agents.push(agent);
    return agent;
  };
  const policy = () => enforced([{ to: "tcp 80", from: [friend.cidr()] }]);
  const store = async (...policies: Canonical<WorkloadPolicy>[]) => {
    const files = new FileStore("server", stateDir);
    await files.probe();
    for (const each of policies) {
      const digest = bodyDigest(each);
      await files.prepare({
        workload: "server",
        epoch: 1n,
        digest,
        inputs: undefined,
        policy: each,
      });
      await files.commit();
    }
  };
  const inForce = async () => (await server.backend.current()) ?? "nothing";
  const reach = (from: Machine) =>
    from.peer.try({ protocol: "tcp", address: server.address(), port: 80 }, 700);
  const isEnforced = async () => {
    expect([await reach(friend), await reach(stranger)]).toEqual(["open", "silent"]);
  };
  const booted = (wanted = policy()) =>
    eventually(
      "the policy is in force",
      inForce,
      (digest) => digest === bodyDigest(wanted),
      60_000,
    );

  it("has the last good policy in force before it dials for the first time", async () => {
    await store(policy());
    // Slow enough to see what comes first.
    const slow = await script("slow-nft", 'sleep 1\nexec nft "$@"');
    await server.nft(
      "add table inet dials; add chain inet dials out { type filter hook output priority 0; }; add rule inet dials out tcp dport 4222 counter",
    );
    start({ natsUrl: `nats://${friend.address()}:4222`, args: ["--nft", slow] });
    const seen: { installed: boolean; dialled: boolean }[] = [];
    await eventually(
      "it dials",
      async () => {
        const dials = await server.nft("list", "table", "inet", "dials");
        const installed = (await inForce()) === bodyDigest(policy());
        const dialled = Number(/packets (\d+)/.exec(dials)?.[1]) > 0;
        seen.push({ installed, dialled });
        return dialled;
      },
      Boolean,
      60_000,
    );
    expect(seen[0]).toEqual({ installed: false, dialled: false });
    expect(seen.at(-1)).toEqual({ installed: true, dialled: true });
    await isEnforced();
  });

  it("leaves the rules in force when it is killed or stopped", async () => {
    await store(policy());
    const first = start();
    await booted();
    await first.crash();
    await isEnforced();
    const second = start();
    await eventually(
      "it answers",
      () => second.status(),
      (status) => status?.installed === true,
      60_000,
    );
    expect(await second.stop()).toBe(0);
    await isEnforced();
  });

  it("comes back with the last good policy after a reboot", async () => {
    await store(policy());
    start();
    await booted();
    await agents[0]?.crash();
    await server.nft("flush", "ruleset");
    expect(await reach(stranger)).toBe("open");
    start();
    await booted();
    await isEnforced();
  });

  it("falls back to the policy before where the last one is damaged", async () => {
    const newer = enforced([{ to: "tcp 80", from: [stranger.cidr()] }]);
    await store(policy(), newer);
    const bytes = await readFile(join(stateDir, "policy"));
    await writeFile(join(stateDir, "policy"), bytes.subarray(0, bytes.length - 7));
    start();
    await booted();
    await isEnforced();
  });

  describe("when somebody changes its table", () => {
    it.each([
      ["deletes the table", "delete table inet ringwall"],
      ["flushes everything", "flush ruleset"],
      ["lets everything in", "insert rule inet ringwall input accept"],
      ["adds a peer", "add element inet ringwall r0_hosts4 { 10.1.0.3 }"],
      ["empties a chain", "flush chain inet ringwall input"],
    ])("repairs it at once after somebody %s, and counts that", async (_what, change) => {
      await store(policy());
      const agent = start();
      await booted();
      await eventually("it answers", () => agent.status());
      // Its eyes are open a moment after it has booted.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await server.nft(change);
      const counted = await eventually(
        "the repair is counted",
        () => agent.status(),
        (status) => Number(status?.driftCount) > 0,
        60_000,
      );
      expect(counted?.driftCount).toBe(1);
      await isEnforced();
    });

    it("never touches the tables of others", async () => {
      const foreign = "table inet foreign {\n\tchain c {\n\t\tip saddr 192.0.2.1 drop\n\t}\n}\n";
      await server.nft(
        "add table inet foreign; add chain inet foreign c; add rule inet foreign c ip saddr 192.0.2.1 drop",
      );
      await store(policy());
      const agent = start();
      await booted();
      await eventually("it answers", () => agent.status());
      await server.nft("add rule inet foreign c ip saddr 192.0.2.2 drop");
      await server.nft("delete rule inet foreign c handle 3");
      await server.nft("delete table inet ringwall");
      await booted();
      expect(await server.nft("list", "table", "inet", "foreign")).toBe(foreign);
    });
  });

  it("fails without a single call to the kernel where its state can't be written", async () => {
    await writeFile(join(directory, "state"), "a file, not a directory");
    const log = join(directory, "calls");
    const nft = await script("logging-nft", `echo "$@" >> ${log}\nexec nft "$@"`);
    const { code, errors } = await start({ args: ["--nft", nft] }).ended;
    expect(code).toBe(1);
    expect(errors).toContain(`state directory ${stateDir} can't be written`);
    await expect(readFile(log)).rejects.toThrow("ENOENT");
    expect(await inForce()).toBe("nothing");
  });

  it("needs CAP_NET_ADMIN and nothing else", async () => {
    await store(policy());
    await giveAway(directory, stateDir);
    const agent = start({ wrapper: withCapabilities("-all,+net_admin") });
    await booted();
    await isEnforced();
    expect(await agent.stop()).toBe(0);
  });

  it.each([
    ["the capability is missing", withCapabilities("-all"), [], "run the agent with CAP_NET_ADMIN"],
    ["nft is missing", [], ["--nft", "/nowhere/nft"], "install the package nftables"],
  ])("says what to do where %s", async (_what, wrapper, args, hint) => {
    await mkdir(stateDir);
    await giveAway(directory, stateDir);
    const { code, errors } = await start({ wrapper, args }).ended;
    expect(errors).toContain(hint);
    expect(code).toBe(1);
  });

  async function script(name: string, body: string): Promise<string> {
    const path = join(directory, name);
    await writeFile(path, `#!/bin/sh\n${body}\n`);
    await chmod(path, 0o755);
    return path;
  }
});

/** Runs something as nobody, with these capabilities. */
function withCapabilities(capabilities: string): string[] {
  const ids = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
  const sets = ["--inh-caps", "--ambient-caps", "--bounding-set"];
  return ["setpriv", ...ids, ...sets.map((set) => `${set}=${capabilities}`)];
}

async function giveAway(directory: string, stateDir: string): Promise<void> {
  await chmod(directory, 0o755);
  await chown(stateDir, NOBODY, NOBODY);
  await runTool("chown", ["-R", `${NOBODY}:${NOBODY}`, stateDir]);
}
