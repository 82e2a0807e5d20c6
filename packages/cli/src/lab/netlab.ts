import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { CliError } from "../errors.ts";
import { runTool } from "./tool.ts";

/** One host of a lab. */
export interface LabHost {
  readonly name: string;
  /** Network namespace. */
  readonly netns: string;
  /** Addresses with prefix length. */
  readonly addresses: readonly string[];
}

const PREFIX = "rwlab";
const SWITCH = "switch";
const NETNS_DIRECTORY = "/var/run/netns";
const BRIDGE = "br0";

/**
 * Hosts, each a network namespace with one interface `eth0`, on a bridge that has a namespace of its
 * own: the machine's own network is not touched. Every address is reachable on the link, whatever its
 * prefix. Names carry the process id, so that a lab whose process was killed can be found and removed.
 */
export class Netlab implements AsyncDisposable {
  readonly #prefix: string;
  readonly #hosts = new Map<string, LabHost>();
  #ports = 0;
  // A second Ctrl-C leaves nothing behind.
  readonly #endAtOnce = () => removeAtOnce(this.#prefix);

  private constructor(prefix: string) {
    this.#prefix = prefix;
    process.once("exit", this.#endAtOnce);
  }

  /** Makes an empty lab; removes labs of processes that are gone. Throws CliError without root. */
  static async open(tag = ""): Promise<Netlab> {
    if (process.platform !== "linux" || process.getuid?.() !== 0) {
      throw new CliError("denied", "network namespaces need root on Linux");
    }
    await removeOrphans();
    const lab = new Netlab(`${PREFIX}${process.pid}${tag}`);
    try {
      await runTool("ip", ["netns", "add", lab.switchNetns]);
      const lines = [`link add ${BRIDGE} type bridge forward_delay 0`, `link set ${BRIDGE} up`];
      await lab.#batch(lab.switchNetns, [...lines, "link set lo up"]);
    } catch (error) {
      await lab[Symbol.asyncDispose]();
      throw error;
    }
    return lab;
  }

  /** Namespace of the bridge. */
  get switchNetns(): string {
    return `${this.#prefix}-${SWITCH}`;
  }

  /** The hosts by name. */
  get hosts(): ReadonlyMap<string, LabHost> {
    return this.#hosts;
  }

  /** Adds a host with these addresses, such as `10.0.0.1/24`; without any it has no interface. */
  async addHost(name: string, addresses: readonly string[]): Promise<LabHost> {
    const netns = `${this.#prefix}-${name}`;
    const host = { name, netns, addresses };
    this.#hosts.set(name, host);
    await runTool("ip", ["netns", "add", netns]);
    await this.#batch(netns, ["link set lo up"]);
    if (addresses.length === 0) return host;
    const port = `p${this.#ports++}`;
    await this.#batch(this.switchNetns, [
      `link add ${port} type veth peer name eth0 netns ${netns}`,
      `link set ${port} master ${BRIDGE} up`,
    ]);
    await this.#batch(netns, [
      "link set eth0 up",
      ...addresses.map((address) => `addr add ${address} dev eth0 ${isV6(address) ? "nodad" : ""}`),
      ...(addresses.some((address) => !isV6(address)) ? ["route add default dev eth0"] : []),
      ...(addresses.some(isV6) ? ["-6 route add default dev eth0"] : []),
    ]);
    return host;
  }

  /** Gives the bridge itself an address, for what serves the hosts from its namespace. */
  async addSwitchAddress(address: string): Promise<void> {
    await this.#batch(this.switchNetns, [
      `addr add ${address} dev ${BRIDGE} ${isV6(address) ? "nodad" : ""}`,
      `${isV6(address) ? "-6 " : ""}route add default dev ${BRIDGE}`,
    ]);
  }

  /** Forgets the neighbours that a host knows. */
  async flushNeighbours(host: LabHost): Promise<void> {
    await this.#batch(host.netns, ["-4 neigh flush dev eth0", "-6 neigh flush dev eth0"]);
  }

  /** Ends what still runs in the namespaces and removes them. */
  async [Symbol.asyncDispose](): Promise<void> {
    await removeNamespaces((name) => name.startsWith(`${this.#prefix}-`));
    this.#hosts.clear();
    process.off("exit", this.#endAtOnce);
  }

  async #batch(netns: string, lines: readonly string[]): Promise<void> {
    // A batch knows no family option of its own per line.
    for (const [flag, wanted] of [
      ["-0", (line: string) => !/^-[46] /.test(line)],
      ["-4", (line: string) => line.startsWith("-4 ")],
      ["-6", (line: string) => line.startsWith("-6 ")],
    ] as const) {
      const part = lines.filter(wanted).map((line) => line.replace(/^-[46] /, ""));
      if (part.length === 0) continue;
      const family = flag === "-0" ? [] : [flag];
      await runTool("ip", [...family, "-n", netns, "-batch", "-"], `${part.join("\n")}\n`);
    }
  }
}

/** The command that runs something in a host's namespace. */
export function inNetns(netns: string, command: readonly string[]): string[] {
  return ["ip", "netns", "exec", netns, ...command];
}

async function removeOrphans(): Promise<void> {
  await removeNamespaces((name) => {
    const pid = Number(/^rwlab(\d+)/.exec(name)?.[1] ?? process.pid);
    return name.startsWith(PREFIX) && pid !== process.pid && !isAlive(pid);
  });
}

async function removeNamespaces(wanted: (name: string) => boolean): Promise<void> {
  const names = (await readdir(NETNS_DIRECTORY).catch(() => [])).filter(wanted);
  for (const name of names) {
    const pids = await runTool("ip", ["netns", "pids", name]).catch(() => "");
    for (const pid of pids.split("\n").filter((text) => text !== "")) end(Number(pid));
    await runTool("ip", ["netns", "del", name]).catch(() => undefined);
  }
}

/** The same without waiting for anything: the process is about to end. */
function removeAtOnce(prefix: string): void {
  const names = existsSync(NETNS_DIRECTORY) ? readdirSync(NETNS_DIRECTORY) : [];
  for (const name of names.filter((each) => each.startsWith(`${prefix}-`))) {
    const { stdout } = spawnSync("ip", ["netns", "pids", name], { encoding: "utf8" });
    for (const pid of (stdout ?? "").split("\n").filter((text) => text !== "")) end(Number(pid));
    spawnSync("ip", ["netns", "del", name]);
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function isV6(address: string): boolean {
  return address.includes(":");
}
