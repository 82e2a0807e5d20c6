import { api, type Bus, connectBus } from "@ringwall/bus";
import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import { ConvergenceRequestSchema, ConvergenceResponseSchema } from "@ringwall/wire";
import { ControlPlane, SERVICES } from "../../chaos/lab/control-plane.ts";
import { group, reported, tree } from "../fanout/estate.ts";
import { Fleet } from "../fanout/fleet.ts";
import { cpuMs } from "./cpu-time.ts";

const CONNECTIONS = 25;
const DEADLINE_MS = 120_000;

/** What one round cost. */
export interface Round {
  /** Processor time of the four services. */
  readonly cpuMs: number;
  /** From the commit to the last acknowledgement. */
  readonly wallMs: number;
}

/** A control plane with its agents under one setting of telemetry. */
export class Variant implements AsyncDisposable {
  readonly name: string;
  readonly #agents: number;
  readonly #nats: NatsServer;
  readonly #plane: ControlPlane;
  readonly #bus: Bus;
  readonly #fleet = new Fleet();
  #round = 0;

  private constructor(
    name: string,
    agents: number,
    nats: NatsServer,
    plane: ControlPlane,
    bus: Bus,
  ) {
    this.name = name;
    this.#agents = agents;
    this.#nats = nats;
    this.#plane = plane;
    this.#bus = bus;
  }

  /** Starts one whose services get these variables, and waits until every agent has its policy. */
  static async start(
    name: string,
    agents: number,
    variables: Readonly<Record<string, string>>,
  ): Promise<Variant> {
    const nats = await startNats();
    // Processes take the variables of the moment at which they are started.
    Object.assign(process.env, variables);
    const plane = await ControlPlane.start({ url: nats.url, instances: 1 });
    for (const key of Object.keys(variables)) delete process.env[key];
    const bus = await connectBus({ url: nats.url, name: "bench" });
    const variant = new Variant(name, agents, nats, plane, bus);
    await plane.operator.commit(tree(), "the tree");
    await plane.operator.reportAll(reported(agents));
    await plane.ready();
    const order = { url: nats.url, agents, connections: CONNECTIONS };
    await variant.#fleet.order({ kind: "start", ...order });
    await variant.#fleet.order({ kind: "open" });
    await variant.#converged();
    return variant;
  }

  /** One commit that concerns every agent. */
  async change(): Promise<Round> {
    this.#round += 1;
    const { times } = await this.#fleet.expect({ kind: "expect-acks", count: this.#agents });
    const before = this.#cpuMs();
    const begun = performance.now();
    await this.#plane.operator.commit([group("everywhere", this.#round)], `${this.#round}`);
    await times;
    const wallMs = performance.now() - begun;
    await this.#converged();
    return { cpuMs: this.#cpuMs() - before, wallMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#fleet.stop();
    await this.#bus.close();
    await this.#plane.stop();
    await this.#nats.stop();
  }

  #cpuMs(): number {
    return SERVICES.reduce((sum, service) => {
      const { pid } = this.#plane.process(`${service}-1`);
      return sum + (pid === undefined ? 0 : cpuMs(pid));
    }, 0);
  }

  async #converged(): Promise<void> {
    const head = (await this.#plane.operator.head())?.inputs?.configSequence ?? 0n;
    await eventually(
      "everybody has acknowledged the head",
      () =>
        api(this.#bus)
          .call("status", "convergence", ConvergenceRequestSchema, ConvergenceResponseSchema, {
            configSequence: head,
          })
          .catch(() => undefined),
      (answer) => answer?.converged === true && answer.agents === this.#agents,
      DEADLINE_MS,
    );
  }
}
