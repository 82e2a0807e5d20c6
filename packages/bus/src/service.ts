import { create, toBinary } from "@bufbuild/protobuf";
import { type Reducer, type RunningActor, runActor } from "@ringwall/actor";
import { startTelemetry, type Telemetry, type TelemetryOptions } from "@ringwall/telemetry";
import { type Inputs, ServiceStatusResponseSchema } from "@ringwall/wire";
import { ensureTopology, type TopologyChange } from "./apply-topology.ts";
import { systemClock } from "./clock.ts";
import { type Bus, connectBus } from "./connect.ts";
import { Discovery } from "./discovery.ts";
import { NatsDriver } from "./driver/nats-driver.ts";
import { BusError } from "./errors.ts";
import { type HealthServer, startHealth } from "./health.ts";
import { type Names, names } from "./names.ts";
import type { ServiceOptions } from "./options.ts";
import { syncWarning } from "./sync-warning.ts";

/** Version that services report. */
export const SERVICE_VERSION = "0.1.0";

const STOP_DEADLINE_MS = 5000;
const TOPOLOGY_RETRY_MS = 1000;
const GAUGES_MS = 1000;

/** What a service's reducer is made with. */
export interface ServiceEnv {
  readonly names: Names;
  readonly instance: string;
  readonly environment: string;
  /** The service's own options by key. */
  readonly options: Readonly<Record<string, string>>;
  /** Share of the work without a trace that begins one: 0 where spans go nowhere. Default 1. */
  readonly traceRatio?: number;
}

/** A service's reducer. `status` tells what `service.status` shows beside readiness. */
export interface ServiceReducer extends Reducer {
  status?(): { readonly slots?: readonly string[]; readonly inputs?: Inputs };
}

/** What a service is. */
export interface ServiceDefinition {
  /** Name without prefix, for example "registrar". */
  readonly service: string;
  /** One line for service discovery. */
  readonly description: string;
  readonly options: ServiceOptions;
  create(env: ServiceEnv): ServiceReducer;
  /** Where log lines go; default standard output. */
  readonly logDestination?: TelemetryOptions["logDestination"];
  /** Ends the wait for NATS. */
  readonly signal?: AbortSignal;
}

/** A running service. */
export interface RunningService {
  /** Port of the health endpoints; undefined if none are served. */
  readonly httpPort: number | undefined;
  readonly bus: Bus;
  readonly telemetry: Telemetry;
  /** Messages in the mailbox. */
  readonly depth: number;
  /** Why it does not serve; empty if it does. */
  problems(): readonly string[];
  /** Fulfils when it was stopped; rejects when its reducer threw or the connection ended. */
  readonly ended: Promise<void>;
  /** Delivers `stop`, waits until everything is acknowledged, and disconnects. */
  stop(): Promise<void>;
}

/**
 * Starts a service: health endpoints, connection (tried for ever unless `failFast`), topology, then
 * the actor. Throws BusError when it can't start.
 */
export async function startService(definition: ServiceDefinition): Promise<RunningService> {
  const service = new Service(definition, await telemetryFor(definition));
  try {
    await service.start();
    return service;
  } catch (error) {
    await service.stop();
    throw error;
  }
}

function telemetryFor({ service, options, logDestination }: ServiceDefinition): Promise<Telemetry> {
  return startTelemetry({
    service,
    instance: options.instance,
    environment: options.processEnvironment,
    ...(logDestination === undefined ? {} : { logDestination }),
  });
}

interface Readiness {
  readonly ready: boolean;
  readonly reason: string;
}

class Service implements RunningService {
  readonly telemetry: Telemetry;
  readonly #definition: ServiceDefinition;
  readonly #ended = Promise.withResolvers<void>();
  #ready: Readiness = { ready: false, reason: "starting" };
  /** What was said last; it counts once the server knows of what was listened to before. */
  #said = this.#ready;
  #warnings: readonly string[] = [];
  #topologyProblem = "";
  #health: HealthServer | undefined;
  #bus: Bus | undefined;
  #driver: NatsDriver | undefined;
  #discovery: Discovery | undefined;
  #actor: RunningActor | undefined;
  #reducer: ServiceReducer | undefined;
  #gauges: NodeJS.Timeout | undefined;
  #stopping: Promise<void> | undefined;
  #topology: Promise<boolean> | undefined;

  constructor(definition: ServiceDefinition, telemetry: Telemetry) {
    this.#definition = definition;
    this.telemetry = telemetry;
    this.#ended.promise.catch(() => undefined);
  }

  get httpPort(): number | undefined {
    return this.#health?.port;
  }

  get bus(): Bus {
    if (this.#bus === undefined) {
      throw new BusError("closed", "the service has not connected yet");
    }
    return this.#bus;
  }

  get depth(): number {
    return this.#actor?.depth ?? 0;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  problems(): readonly string[] {
    if (this.#bus === undefined || !this.#bus.connected) {
      return ["NATS is not reachable"];
    }
    if (this.#topologyProblem !== "") {
      return [this.#topologyProblem];
    }
    const refused = this.#driver?.problems ?? [];
    return this.#ready.ready ? refused : [...refused, this.#ready.reason || "not ready"];
  }

  async start(): Promise<void> {
    const { options, service } = this.#definition;
    if (options.httpPort !== undefined) {
      this.#health = await startHealth(options.httpHost, options.httpPort, {
        problems: () => this.problems(),
        warnings: () => this.#warnings,
        metricsPage: () => this.telemetry.metrics.page(),
      });
    }
    this.#bus = await this.#connect();
    await this.#ensureTopology(this.#bus);
    this.#runActor(this.#bus);
    this.#bus.onReconnect(() => void this.#reconnected());
    void this.#bus.nc.closed().then((error) => {
      if (this.#stopping === undefined) {
        this.#ended.reject(new BusError("closed", "the connection to NATS ended", error));
      }
    });
    this.#gauges = setInterval(() => this.#measure(), GAUGES_MS);
    // What the first step listens on is known to the server when the service counts as started; a
    // connection that breaks just now is made again by itself.
    await this.#bus.nc.flush().catch(() => undefined);
    const { instance, environment, prefix } = options;
    this.telemetry.log.info({ environment, prefix }, `${service} ${instance} runs`);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    clearInterval(this.#gauges);
    void this.#say({ ready: false, reason: "stopping" });
    const rested = await this.#actor?.stop(STOP_DEADLINE_MS);
    if (rested === false) {
      this.telemetry.log.warn({ depth: this.depth }, "stopped with work outstanding");
    }
    this.#discovery?.close();
    await this.#bus?.close();
    await this.#health?.close();
    this.telemetry.log.info({}, `${this.#definition.service} stopped`);
    await this.telemetry.shutdown();
    this.#ended.resolve();
  }

  #connect(): Promise<Bus> {
    const { options, service, signal } = this.#definition;
    return connectBus({
      url: options.natsUrl,
      name: `${options.prefix}-${service}-${options.instance}`,
      prefix: options.prefix,
      failFast: options.failFast,
      log: this.telemetry.log,
      ...(signal === undefined ? {} : { signal }),
      ...(options.credsFile === undefined ? {} : { credsFile: options.credsFile }),
      ...(Object.keys(options.tls).length === 0 ? {} : { tls: options.tls }),
      ...(options.inboxPrefix === undefined ? {} : { inboxPrefix: options.inboxPrefix }),
    });
  }

  async #ensureTopology(bus: Bus): Promise<void> {
    const { replicas, failFast } = this.#definition.options;
    for (;;) {
      try {
        const differences = await ensureTopology(bus, { replicas });
        this.#topologyProblem = "";
        await this.#warn(differences);
        return;
      } catch (error) {
        const final = error instanceof BusError && error.code === "partitions-mismatch";
        if (final || failFast || this.#definition.signal?.aborted || this.#stopping) {
          throw error;
        }
        const message = error instanceof Error ? error.message : String(error);
        this.#topologyProblem = `topology: ${message}`;
        this.telemetry.log.warn({}, `topology can't be made sure of: ${message}; trying again`);
        await new Promise((resolve) => setTimeout(resolve, TOPOLOGY_RETRY_MS));
      }
    }
  }

  async #warn(differences: readonly TopologyChange[]): Promise<void> {
    const { monitorUrl } = this.#definition.options;
    const unsynced = monitorUrl === undefined ? undefined : await syncWarning(monitorUrl);
    this.#warnings = [
      ...differences.flatMap((change) =>
        change.kind === "update"
          ? [`topology: ${change.stream} has ${change.setting} ${change.is}, not ${change.wanted}`]
          : [],
      ),
      ...(unsynced === undefined ? [] : [unsynced]),
    ];
    for (const warning of this.#warnings) {
      this.telemetry.log.warn({}, warning);
    }
  }

  #runActor(bus: Bus): void {
    const { options, service, description } = this.#definition;
    const { instance, environment, own } = options;
    this.#discovery = new Discovery(bus.nc, {
      name: `${options.prefix}-${service}`,
      id: instance,
      version: SERVICE_VERSION,
      description,
      metadata: { environment },
    });
    this.#driver = new NatsDriver({
      bus,
      clock: systemClock,
      telemetry: this.telemetry,
      owner: `${service}-${instance}`,
      discovery: this.#discovery,
      onReady: (ready, reason) => void this.#say({ ready, reason }),
      // A stream that was deleted under a running service is created again, empty.
      onReaderLost: () => void this.#topologyAgain(),
    });
    this.#reducer = this.#definition.create({
      names: names(options.prefix),
      instance,
      environment,
      options: own,
      traceRatio: this.telemetry.traceRatio,
    });
    this.#serveStatus(bus);
    this.#actor = runActor(this.#reducer, this.#driver, systemClock, {
      onSlowStep: (kind, tookMs) => {
        this.telemetry.metrics.count({ name: "ringwall_actor_slow_steps_total", labels: { kind } });
        this.telemetry.log.debug({ kind, took_ms: tookMs }, "a step took longer than 10 ms");
      },
    });
    this.#actor.ended.catch((error: unknown) => {
      void this.#say({ ready: false, reason: "its actor failed" });
      this.#ended.reject(error);
    });
  }

  // A service that says that it is ready can be asked by everybody, over whatever connection.
  async #say(said: Readiness): Promise<void> {
    this.#said = said;
    if (said.ready) {
      await this.#bus?.nc.flush().catch(() => undefined);
    }
    if (this.#said === said) {
      this.#ready = said;
    }
  }

  // Every instance answers for itself, so there is no queue group.
  #serveStatus(bus: Bus): void {
    const { options, service } = this.#definition;
    const subject = bus.names.api("service", "status");
    const count = this.#discovery?.add(subject, undefined);
    bus.nc.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) {
          this.telemetry.log.warn({ reason: error.message }, "service.status can't be served");
          return;
        }
        count?.requested();
        const [reason = ""] = this.problems();
        const { slots = [], inputs } = this.#reducer?.status?.() ?? {};
        const answer = create(ServiceStatusResponseSchema, {
          instance: options.instance,
          service,
          ready: reason === "",
          reason,
          slots: [...slots],
          environment: options.environment,
          ...(inputs === undefined ? {} : { inputs }),
        });
        message.respond(toBinary(ServiceStatusResponseSchema, answer));
      },
    });
  }

  async #reconnected(): Promise<void> {
    // A server that came back with an empty store gets its streams again; what they mean then is the
    // reducers' business.
    if (await this.#topologyAgain()) {
      this.#driver?.reconnected();
    }
  }

  #topologyAgain(): Promise<boolean> {
    this.#topology ??= this.#ensureTopology(this.bus)
      .then(
        () => this.#stopping === undefined,
        (error: unknown) => {
          if (this.#stopping === undefined) {
            this.#ended.reject(error);
          }
          return false;
        },
      )
      .finally(() => {
        this.#topology = undefined;
      });
    return this.#topology;
  }

  #measure(): void {
    const { metrics } = this.telemetry;
    metrics.gauge({ name: "ringwall_mailbox_depth", value: this.depth });
    metrics.gauge({ name: "ringwall_bus_connected", value: this.#bus?.connected === true ? 1 : 0 });
    metrics.gauge({ name: "ringwall_ready", value: this.problems().length === 0 ? 1 : 0 });
    metrics.gauge({ name: "ringwall_mailbox_dropped", value: this.#actor?.dropped ?? 0 });
  }
}
