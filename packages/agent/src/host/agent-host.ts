import type { Clock, SpanEffect } from "@ringwall/actor";
import type { InventoryReport } from "@ringwall/wire";
import type { EnforcementBackend } from "../backend/backend.ts";
import { AgentError } from "../errors.ts";
import type { AgentSubjects } from "../session/contract.ts";
import type { SessionStatus } from "../session/phase.ts";
import type { PolicyStore } from "../store/policy-store.ts";
import { AgentDriver, type AgentLog } from "./agent-driver.ts";
import { systemClock } from "./system-clock.ts";
import type { AgentTransport } from "./transport.ts";
import { Turnstile } from "./turnstile.ts";

/** Applies and boots that run at the same time in one process. */
const WIDTH = 16;

/** Options of a process that runs agents. */
export interface AgentHostOptions {
  /** Subjects of a workload. */
  readonly subjects: (workload: string) => AgentSubjects;
  /** Version of the agent, for people. */
  readonly agentVersion: string;
  readonly log?: AgentLog;
  readonly count?: (name: string, by: number, labels: Readonly<Record<string, string>>) => void;
  /** Takes finished spans; absent: they go nowhere. */
  readonly span?: (span: SpanEffect) => void;
  /** Default the host's own. */
  readonly clock?: Clock;
}

/** One workload of the process. */
export interface HostedWorkload {
  readonly workload: string;
  readonly store: PolicyStore;
  readonly backend: EnforcementBackend;
  /** Facts about the host, for people. */
  readonly facts?: Readonly<Record<string, string>>;
  /** What it serves; absent: nothing is reported. */
  readonly inventory?: InventoryReport;
}

/** Runs any number of agents over a few connections. Policies are in force before it is opened. */
export class AgentHost {
  readonly #options: AgentHostOptions;
  readonly #turnstile = new Turnstile(WIDTH);
  readonly #agents = new Map<string, AgentDriver>();
  readonly #clock: Clock;
  #transports: readonly AgentTransport[] = [];
  #started = 0;

  constructor(options: AgentHostOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Boots a workload's agent: its stored policy is in force afterwards. It dials once the host is
   * open. Rejects with `store-unwritable`, or `estate-invalid` for an id that runs here already.
   */
  async add(hosted: HostedWorkload): Promise<AgentDriver> {
    const { workload } = hosted;
    if (this.#agents.has(workload)) {
      throw new AgentError("estate-invalid", `workload "${workload}" runs in this process already`);
    }
    const agent = await AgentDriver.boot({
      env: {
        workload,
        subjects: this.#options.subjects(workload),
        agentVersion: this.#options.agentVersion,
        facts: { backend: hosted.backend.name, ...hosted.facts },
      },
      store: hosted.store,
      backend: hosted.backend,
      clock: this.#clock,
      log: this.#options.log ?? (() => undefined),
      count: this.#options.count ?? (() => undefined),
      turnstile: this.#turnstile,
      ...(this.#options.span === undefined ? {} : { span: this.#options.span }),
    });
    this.#agents.set(workload, agent);
    if (hosted.inventory !== undefined) {
      agent.report(hosted.inventory);
    }
    this.#start(agent);
    return agent;
  }

  /** Lets every agent dial, spread over these connections in turn. At least one; call it once. */
  open(transports: readonly AgentTransport[]): void {
    if (transports.length === 0) {
      throw new AgentError("option-invalid", "an agent host needs at least 1 connection, it has 0");
    }
    this.#transports = transports;
    for (const transport of transports) {
      transport.onReconnect(() => this.#reconnected(transport));
    }
    for (const agent of this.#agents.values()) {
      this.#start(agent);
    }
  }

  /** The agent of a workload. */
  get(workload: string): AgentDriver | undefined {
    return this.#agents.get(workload);
  }

  /** Every agent as people see it, in the order of their workloads. */
  statuses(): readonly SessionStatus[] {
    return [...this.#agents.values()]
      .map((agent) => agent.status)
      .sort((a, b) => (a.workload < b.workload ? -1 : 1));
  }

  /** Ends one workload's session; its policy stays in force. */
  async remove(workload: string): Promise<void> {
    const agent = this.#agents.get(workload);
    if (agent !== undefined) {
      this.#agents.delete(workload);
      await agent.stop();
    }
  }

  /** Ends all sessions; policies stay in force. */
  async stop(): Promise<void> {
    const agents = [...this.#agents.values()];
    this.#agents.clear();
    await Promise.all(agents.map((agent) => agent.stop()));
  }

  #start(agent: AgentDriver): void {
    const transport = this.#transports[this.#started % this.#transports.length];
    if (transport !== undefined) {
      this.#started += 1;
      agent.start(transport);
    }
  }

  #reconnected(transport: AgentTransport): void {
    for (const agent of this.#agents.values()) {
      if (agent.transport === transport) {
        agent.reconnected();
      }
    }
  }
}
