import type { Server } from "node:http";
import { release } from "node:os";
import {
  AgentError,
  AgentHost,
  createBackend,
  FileStore,
  formatAlwaysAccept,
  inventoryReport,
  lockStateDirectory,
  natsTransport,
  nftChecker,
} from "@ringwall/agent";
import {
  type Bus,
  connectBus,
  names,
  SERVICE_VERSION,
  type ServiceOptions,
  traceHeaders,
} from "@ringwall/bus";
import { startTelemetry, type Telemetry } from "@ringwall/telemetry";
import { readBackendOptions } from "./backend-options.ts";
import { startAgentHealth } from "./health.ts";
import { type RunWorkload, readWorkloads } from "./workloads.ts";

/** How often it is looked whether a host serves something else now. */
const INVENTORY_MS = 10_000;

/** Most connections that an estate is spread over. */
const CONNECTIONS_LIMIT = 1000;

/** A process that runs agents. */
export class AgentProcess {
  readonly #options: ServiceOptions;
  readonly #telemetry: Telemetry;
  readonly #host: AgentHost;
  readonly #reported = new Map<string, string>();
  readonly #buses: Bus[] = [];
  readonly #unlocks: (() => Promise<void>)[] = [];
  #server: Server | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: ServiceOptions, telemetry: Telemetry) {
    this.#options = options;
    this.#telemetry = telemetry;
    const bus = names(options.prefix);
    this.#host = new AgentHost({
      agentVersion: SERVICE_VERSION,
      subjects: (workload) => ({
        hello: bus.agentHello(workload),
        down: bus.agentDown(workload),
        up: (gateway) => bus.agentUp(workload, gateway),
      }),
      log: (level, message, fields) => telemetry.perform({ kind: "log", level, message, fields }),
      count: (name, by, labels) =>
        telemetry.perform({ kind: "count", name: `ringwall_${name}`, by, labels }),
      span: (span) => telemetry.perform(span),
    });
  }

  /**
   * Starts the agents of this process: stored policies are in force before anything is dialled.
   * Rejects when an option is wrong, another agent uses a state directory, or no policy is stored and
   * none could be.
   */
  static async start(options: ServiceOptions, signal: AbortSignal): Promise<AgentProcess> {
    const telemetry = await startTelemetry({
      service: "agent",
      instance: options.instance,
      environment: options.processEnvironment,
    });
    const agents = new AgentProcess(options, telemetry);
    try {
      await agents.#start(signal);
      return agents;
    } catch (error) {
      await agents.stop();
      throw error;
    }
  }

  /** The agents. */
  get host(): AgentHost {
    return this.#host;
  }

  /** Ends the sessions; policies stay in force. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#host.stop();
    await Promise.all(this.#buses.map((bus) => bus.close()));
    this.#server?.close();
    this.#server?.closeAllConnections();
    await Promise.all(this.#unlocks.map((unlock) => unlock()));
    await this.#telemetry.shutdown();
  }

  async #start(signal: AbortSignal): Promise<void> {
    const workloads = await readWorkloads(this.#options.own);
    await Promise.all(workloads.map(({ stateDir }) => this.#lock(stateDir)));
    await this.#boot(workloads);
    const { httpPort, httpHost } = this.#options;
    if (httpPort !== undefined) {
      this.#server = await startAgentHealth(httpHost, httpPort, {
        statuses: () => this.#host.statuses(),
        metricsPage: () => this.#telemetry.metrics.page(),
      });
    }
    await this.#connect(signal);
    this.#host.open(this.#buses.map((bus) => natsTransport(bus.nc, traceHeaders)));
    this.#timer = setInterval(() => void this.#lookAgain(workloads), INVENTORY_MS);
  }

  /** Where the file system takes no lock the stored policy still has to come into force. */
  async #lock(stateDir: string): Promise<void> {
    try {
      this.#unlocks.push(await lockStateDirectory(stateDir));
    } catch (error) {
      if (error instanceof AgentError) {
        throw error;
      }
      const reason = error instanceof Error ? error.message : String(error);
      this.#telemetry.log.warn({ stateDir, reason }, "the state directory can't be locked");
    }
  }

  async #boot(workloads: readonly RunWorkload[]): Promise<void> {
    const { own } = this.#options;
    const parts = { ...(await readBackendOptions(own, workloads)), checker: nftChecker(own.nft) };
    const { alwaysAccept } = parts;
    const facts = { kernel: release(), always_accept: formatAlwaysAccept(alwaysAccept) };
    await Promise.all(
      workloads.map(async ({ workload, stateDir, inventory }) => {
        const served = await inventory();
        this.#reported.set(workload, JSON.stringify(served));
        const backend = createBackend(own.backend ?? "", { ...parts, stateDir });
        await this.#host.add({
          workload,
          store: new FileStore(workload, stateDir),
          backend,
          facts,
          inventory: inventoryReport(served),
        });
        // A host that can't enforce says so now and not with the first policy.
        await backend.current();
      }),
    );
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { natsUrl, prefix, instance, failFast, credsFile, tls, inboxPrefix, own } = this.#options;
    const count = Math.min(Math.max(1, Number(own.connections) || 1), CONNECTIONS_LIMIT);
    for (let index = 0; index < count; index += 1) {
      const bus = await connectBus({
        url: natsUrl,
        name: `${prefix}-agent-${instance}`,
        prefix,
        failFast,
        tls,
        log: this.#telemetry.log,
        signal,
        ...(credsFile === undefined ? {} : { credsFile }),
        ...(inboxPrefix === undefined ? {} : { inboxPrefix }),
      });
      this.#buses.push(bus);
    }
  }

  /** Reports what a host serves when that has changed; a file that can't be read changes nothing. */
  async #lookAgain(workloads: readonly RunWorkload[]): Promise<void> {
    for (const { workload, inventory } of workloads) {
      try {
        const parts = await inventory();
        const text = JSON.stringify(parts);
        if (text !== this.#reported.get(workload)) {
          this.#reported.set(workload, text);
          this.#host.get(workload)?.report(inventoryReport(parts));
        }
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#telemetry.log.warn({ workload, reason }, "what the host serves can't be read");
      }
    }
  }
}
