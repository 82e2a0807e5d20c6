import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CounterReading, NftablesBackend, type NftablesBackendOptions } from "@ringwall/agent";
import {
  inNetns,
  type LabHost,
  type Netlab,
  Peer,
  type PeerPort,
  runTool,
} from "@ringwall/cli/lab";
import type { Canonical } from "@ringwall/rendered";
import type { WorkloadPolicy } from "@ringwall/wire";

/** What a machine is made with. */
export interface MachineOptions {
  readonly addresses: readonly string[];
  readonly ports?: readonly PeerPort[];
  readonly backend?: Partial<NftablesBackendOptions>;
}

/** A host of a lab with a server, a caller and a backend that enforces in its kernel. */
export class Machine implements AsyncDisposable {
  readonly host: LabHost;
  readonly peer: Peer;
  readonly backend: NftablesBackend;
  readonly directory: string;
  #installed: Canonical<WorkloadPolicy> | undefined;

  private constructor(host: LabHost, peer: Peer, backend: NftablesBackend, directory: string) {
    this.host = host;
    this.peer = peer;
    this.backend = backend;
    this.directory = directory;
  }

  /** Adds it to a lab. */
  static async add(lab: Netlab, name: string, options: MachineOptions): Promise<Machine> {
    const host = await lab.addHost(name, options.addresses);
    const peer = await Peer.start(host, options.ports ?? []);
    const directory = await mkdtemp(join(tmpdir(), "ringwall-kernel-"));
    const backend = new NftablesBackend({
      directory,
      compile: {},
      nft: inNetns(host.netns, ["nft"]),
      conntrack: inNetns(host.netns, ["conntrack"]),
      localAddresses: () => options.addresses.map((address) => address.split("/")[0] ?? ""),
      ...options.backend,
    });
    return new Machine(host, peer, backend, directory);
  }

  /** Bare address of a family. */
  address(family: 4 | 6 = 4): string {
    const found = this.host.addresses.find((each) => each.includes(":") === (family === 6));
    return found?.split("/")[0] ?? "";
  }

  /** Host route of a family. */
  cidr(family: 4 | 6 = 4): string {
    return `${this.address(family)}/${family === 6 ? 128 : 32}`;
  }

  /** Puts a policy in force as an agent does; throws nft's words if it is refused. Says how it went. */
  async enforce(policy: Canonical<WorkloadPolicy>): Promise<string> {
    const checked = await this.backend.check(policy);
    if (!checked.ok) throw new Error(checked.detail);
    const result = await this.backend.install(policy, this.#installed);
    if (!result.ok) throw new Error(result.detail);
    this.#installed = policy;
    return result.detail;
  }

  /** Drops what the kernel tracks: a new flow from the same port would count as an old one. */
  async forgetFlows(): Promise<void> {
    const [binary = "ip", ...rest] = inNetns(this.host.netns, ["conntrack", "-F"]);
    await runTool(binary, rest);
  }

  /** Runs nft in the host's namespace. */
  nft(...args: readonly string[]): Promise<string> {
    const [binary = "ip", ...rest] = inNetns(this.host.netns, ["nft", ...args]);
    return runTool(binary, rest);
  }

  /** Counters of what is in force. */
  async counters(): Promise<CounterReading> {
    const reading = await this.backend.counters();
    if (reading === undefined) throw new Error("nothing is in force");
    return reading;
  }

  /** Packets of a rule in the input chain, by its comment. */
  async packets(comment: string): Promise<number> {
    const text = await this.nft("list", "chain", "inet", "ringwall", "input");
    const lines = text.split("\n").filter((line) => line.includes(`comment "${comment}"`));
    return lines.reduce((sum, line) => sum + Number(/packets (\d+)/.exec(line)?.[1] ?? 0), 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.backend.close();
    await this.peer[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true, force: true });
  }
}
