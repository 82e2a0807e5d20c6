import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bus, connectBus } from "@ringwall/bus";
import { eventually, freePort } from "@ringwall/testkit";
import { Operator } from "./operator.ts";
import { ServiceProcess } from "./service-process.ts";

/** The services, in the order in which they are started. */
export const SERVICES = ["version-keeper", "registrar", "renderer", "agent-gateway"] as const;

/** Name of a service. */
export type ServiceName = (typeof SERVICES)[number];

/** How a control plane is run. */
export interface PlaneOptions {
  /** URL of the server for whoever looks at it and changes it. */
  readonly url: string;
  /** URL that the services use if it is another. */
  readonly servicesUrl?: string;
  /** Instances of each service. */
  readonly instances: number;
  readonly replicas?: number;
  /** More options of a service. */
  readonly args?: Readonly<Partial<Record<ServiceName, readonly string[]>>>;
  /** Options of Node for a service. */
  readonly nodeArgs?: Readonly<Partial<Record<ServiceName, readonly string[]>>>;
}

const READY_DEADLINE_MS = 90_000;

/** The four services as processes, with an operator's connection. */
export class ControlPlane {
  readonly bus: Bus;
  readonly operator: Operator;
  readonly logDirectory: string;
  readonly #services = new Map<string, ServiceProcess>();

  private constructor(bus: Bus, logDirectory: string) {
    this.bus = bus;
    this.operator = new Operator(bus);
    this.logDirectory = logDirectory;
  }

  /** Starts them on a running server, and waits for nothing. */
  static async start(options: PlaneOptions): Promise<ControlPlane> {
    const { url, servicesUrl = url, instances, replicas = 1, args = {}, nodeArgs = {} } = options;
    const bus = await connectBus({ url, name: "chaos-operator" });
    const plane = new ControlPlane(bus, await mkdtemp(join(tmpdir(), "ringwall-chaos-")));
    for (const service of SERVICES) {
      for (let index = 1; index <= instances; index += 1) {
        const name = `${service}-${index}`;
        const own = ["--nats-url", servicesUrl, "--env", "prod"];
        const process = new ServiceProcess({
          service,
          name,
          isInstance: true,
          httpPort: await freePort(),
          logFile: join(plane.logDirectory, `${name}.log`),
          args: [...own, "--replicas", String(replicas), ...(args[service] ?? [])],
          nodeArgs: nodeArgs[service] ?? [],
        });
        plane.#services.set(name, process);
        process.start();
      }
    }
    return plane;
  }

  /** A process by name, for example `renderer-1`. */
  process(name: string): ServiceProcess {
    const process = this.#services.get(name);
    if (process === undefined) throw new Error(`there is no ${name}`);
    return process;
  }

  /** All instances of a service. */
  instances(service: ServiceName): readonly ServiceProcess[] {
    return [...this.#services.values()].filter(({ name }) => name.startsWith(`${service}-`));
  }

  /** Starts whatever is down. */
  startAll(): void {
    for (const process of this.#services.values()) process.start();
  }

  /** Waits until every process that runs has come as far as it can without a commit. */
  async answers(): Promise<void> {
    await eventually(
      "every service answers",
      () => this.problems(),
      (problems) => problems.every((problem) => !/does not answer|starting|topology/.test(problem)),
      READY_DEADLINE_MS,
    );
  }

  /** Waits until every process that runs serves. */
  async ready(): Promise<void> {
    await eventually(
      "every service is ready",
      () => this.problems(),
      (problems) => problems.length === 0,
      READY_DEADLINE_MS,
    );
  }

  /** What keeps the processes that run from serving, by name. */
  async problems(): Promise<readonly string[]> {
    const running = [...this.#services.values()].filter(({ pid }) => pid !== undefined);
    const problems = await Promise.all(
      running.map(async (process) => {
        const problem = await process.problem();
        return problem === "" ? [] : [`${process.name}: ${problem}`];
      }),
    );
    return problems.flat();
  }

  /** Ends all processes; keeps their logs if asked to. */
  async stop(keepLogs = false): Promise<void> {
    await Promise.all([...this.#services.values()].map((process) => process.kill()));
    await this.bus.close();
    if (!keepLogs) await rm(this.logDirectory, { recursive: true, force: true });
  }
}
