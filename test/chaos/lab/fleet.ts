import { AgentHost, MemoryBackend, natsTransport } from "@ringwall/agent";
import { type Bus, connectBus, names } from "@ringwall/bus";
import type { Witness } from "./witness.ts";

/** Agents of one process over a few connections. */
export interface FleetOptions {
  readonly url: string;
  readonly connections: number;
  readonly workloads: readonly string[];
  readonly witness: Witness;
  /** Tells apart agents with one id. */
  readonly place?: string;
}

/** Agents in this process: real sessions, policies in memory, every one of them seen by the witness. */
export class Fleet {
  readonly host: AgentHost;
  readonly #buses: readonly Bus[];

  readonly #options: FleetOptions;

  private constructor(options: FleetOptions, host: AgentHost, buses: readonly Bus[]) {
    this.#options = options;
    this.host = host;
    this.#buses = buses;
  }

  /** Starts them; they dial at once. */
  static async start(options: FleetOptions): Promise<Fleet> {
    const { url, connections, workloads, place = "" } = options;
    const subjects = names();
    const host = new AgentHost({
      agentVersion: "chaos",
      subjects: (workload) => ({
        hello: subjects.agentHello(workload),
        down: subjects.agentDown(workload),
        up: (gateway) => subjects.agentUp(workload, gateway),
      }),
    });
    const buses = await Promise.all(
      Array.from({ length: connections }, (_, index) =>
        connectBus({ url, name: `chaos-agents-${place}${index}` }),
      ),
    );
    const fleet = new Fleet(options, host, buses);
    await Promise.all(workloads.map((workload) => fleet.add(workload)));
    host.open(buses.map(({ nc }) => natsTransport(nc)));
    return fleet;
  }

  /** Starts an agent; it has the policy that it had before if it ran already. */
  async add(workload: string): Promise<void> {
    const { witness, place = "" } = this.#options;
    const store = witness.store(workload, place);
    await this.host.add({ workload, store, backend: new MemoryBackend() });
  }

  /** Number of agents that have a session. */
  get open(): number {
    return this.host.statuses().filter(({ phase }) => phase === "open").length;
  }

  /** Ends all sessions. */
  async stop(): Promise<void> {
    await this.host.stop();
    await Promise.all(this.#buses.map((bus) => bus.close()));
  }
}
