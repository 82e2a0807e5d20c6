import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import type { Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Child } from "../dev/child.ts";
import type { CliError } from "../errors.ts";
import type { EstateWorkload } from "../estate/read-estate.ts";
import { inNetns, Netlab } from "../lab/netlab.ts";
import { Peer } from "../lab/peer.ts";
import type { PeerPort } from "../lab/peer-messages.ts";
import { relay } from "./relay.ts";

/** What the hosts of a demonstration are made with. */
export interface DemoLabOptions {
  /** Root of the checkout: the agent is run from its sources. */
  readonly root: string;
  /** Directory for states and logs; it is the caller's to remove. */
  readonly directory: string;
  readonly natsPort: number;
  readonly prefix: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly say: (text: string) => void;
  readonly giveUp: (error: CliError) => void;
}

const BUS_V4 = "10.255.255.254";
const BUS_V6 = "fd00:ffff::1";
const BUS_PORT = 4222;
/** A workload without an address still has an agent that dials. */
const MANAGEMENT = "169.254.100.2/16";
const RELAY = fileURLToPath(new URL("relay-main.ts", import.meta.url));

/** One namespace for each workload, with a server and an agent in it, and a way to the bus. */
export class DemoLab implements AsyncDisposable {
  readonly peers = new Map<string, Peer>();
  readonly #options: DemoLabOptions;
  readonly #lab: Netlab;
  readonly #agents: Child[] = [];
  #outer: Server | undefined;
  #inner: ChildProcess | undefined;

  private constructor(options: DemoLabOptions, lab: Netlab) {
    this.#options = options;
    this.#lab = lab;
  }

  /** Builds the hosts, with servers that answer on these ports. */
  static async build(
    options: DemoLabOptions,
    workloads: readonly EstateWorkload[],
    portsOf: (workload: EstateWorkload) => readonly PeerPort[],
  ): Promise<DemoLab> {
    const demo = new DemoLab(options, await Netlab.open());
    try {
      await demo.#relayBus();
      for (const workload of workloads) {
        const { id, addresses } = workload;
        const host = await demo.#lab.addHost(id, addresses.length > 0 ? addresses : [MANAGEMENT]);
        demo.peers.set(id, await Peer.start(host, portsOf(workload)));
      }
    } catch (error) {
      await demo[Symbol.asyncDispose]();
      throw error;
    }
    return demo;
  }

  /** Starts an agent in each host. */
  async startAgents(workloads: readonly EstateWorkload[]): Promise<void> {
    const { root, directory, prefix, environment, say, giveUp } = this.#options;
    for (const workload of workloads) {
      const host = this.#lab.hosts.get(workload.id);
      if (host === undefined) continue;
      const stateDir = join(directory, "agents", workload.id);
      await mkdir(stateDir, { recursive: true });
      const estate = join(stateDir, "estate.json");
      await writeFile(estate, JSON.stringify([entryOf(workload, stateDir)]));
      const onlyV6 = host.addresses.every((address) => address.includes(":"));
      const bus = `nats://${onlyV6 ? `[${BUS_V6}]` : BUS_V4}:${BUS_PORT}`;
      const [command = "ip", ...args] = inNetns(host.netns, [
        process.execPath,
        join(root, "services/agent/src/main.ts"),
        ...["--estate", estate, "--backend", "nftables", "--nats-url", bus, "--prefix", prefix],
      ]);
      this.#agents.push(
        new Child({
          name: `agent ${workload.id}`,
          command,
          args,
          cwd: root,
          environment,
          logFile: join(directory, `agent-${workload.id}.log`),
          started: () => undefined,
          say,
          giveUp,
        }),
      );
    }
  }

  /** Stops agents and servers and removes the namespaces with the rules in them. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.stop()));
    await Promise.all([...this.peers.values()].map((peer) => peer[Symbol.asyncDispose]()));
    this.#inner?.stdin?.end();
    this.#outer?.close();
    await this.#lab[Symbol.asyncDispose]();
  }

  async #relayBus(): Promise<void> {
    const { directory, natsPort } = this.#options;
    const path = join(directory, "bus.sock");
    this.#outer = await relay({ path }, { host: "127.0.0.1", port: natsPort });
    await this.#lab.addSwitchAddress(`${BUS_V4}/32`);
    await this.#lab.addSwitchAddress(`${BUS_V6}/128`);
    const netns = this.#lab.switchNetns;
    const [command = "ip", ...args] = inNetns(netns, [
      process.execPath,
      RELAY,
      path,
      `${BUS_PORT}`,
    ]);
    this.#inner = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"], detached: true });
    const { stdout } = this.#inner;
    if (stdout !== null) await once(stdout, "data");
  }
}

function entryOf(workload: EstateWorkload, stateDir: string) {
  const { id, addresses, services, annotations, outbounds, attributes } = workload;
  return { workload: id, addresses, services, annotations, outbounds, attributes, stateDir };
}
