import {
  AgentHost,
  type BackendResult,
  MemoryBackend,
  MemoryStore,
  natsTransport,
} from "@ringwall/agent";
import { type Bus, connectBus, names } from "@ringwall/bus";
import { eventually } from "@ringwall/testkit";
import { document } from "./estate.ts";
import type { Operator } from "./operator.ts";
import type { ServiceProcess } from "./service-process.ts";

const KNOWN = 50;
const UNKNOWN = 50;
const DEADLINE_MS = 60_000;

/** A host that can install nothing. */
class RefusingBackend extends MemoryBackend {
  #refused: () => void;

  constructor(refused: () => void) {
    super();
    this.#refused = refused;
  }

  override install(): Promise<BackendResult> {
    this.#refused();
    return Promise.resolve({ ok: false, detail: "the test refuses everything" });
  }

  override check(): Promise<BackendResult> {
    return this.install();
  }
}

/**
 * Agents that come, are refused because nobody knows them or refuse what they are sent, and go
 * without a word: a hundred at a time, half of either kind.
 */
export class Cycler {
  readonly #bus: Bus;
  readonly #operator: Operator;
  readonly #host: AgentHost;
  #cycles = 0;
  #refusals = 0;

  constructor(bus: Bus, operator: Operator, host: AgentHost) {
    this.#bus = bus;
    this.#operator = operator;
    this.#host = host;
  }

  /** Refusals by the hosts. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Goes through so many sessions. */
  async run(cycles: number): Promise<void> {
    const until = this.#cycles + cycles;
    while (this.#cycles < until) await this.#batch();
  }

  /** Waits until gateways have as many sessions as there are other agents. */
  async forgotten(gateways: readonly ServiceProcess[], others: number): Promise<void> {
    await eventually(
      "the gateways have forgotten those that are gone",
      async () => {
        const counts = await Promise.all(gateways.map((each) => each.metric("ringwall_agents")));
        return counts.reduce((sum, count) => sum + count, 0);
      },
      (sessions) => sessions <= others,
      DEADLINE_MS,
    );
  }

  async stop(): Promise<void> {
    await this.#host.stop();
    await this.#bus.close();
  }

  async #batch(): Promise<void> {
    // A body that nobody has refused yet.
    await commitBody(this.#operator, this.#cycles);
    const refusing = new Set<string>();
    const known = Array.from({ length: KNOWN }, (_, index) => `x-${index}`);
    const unknown = Array.from({ length: UNKNOWN }, (_, index) => `u-${this.#cycles + index}`);
    for (const workload of [...known, ...unknown]) {
      const backend = new RefusingBackend(() => {
        this.#refusals += 1;
        refusing.add(workload);
      });
      await this.#host.add({ workload, store: new MemoryStore(), backend });
    }
    await eventually(
      "every agent has refused or was refused",
      () => known.every((id) => refusing.has(id)) && this.#host.statuses().every(isOpen),
      Boolean,
      DEADLINE_MS,
    );
    await Promise.all([...known, ...unknown].map((workload) => this.#host.remove(workload)));
    this.#cycles += KNOWN + UNKNOWN;
  }
}

/** Registers the workloads whose agents refuse, and connects. */
export async function startCycler(url: string, operator: Operator): Promise<Cycler> {
  const bus = await connectBus({ url, name: "chaos-cycles" });
  const subjects = names();
  const host = new AgentHost({
    agentVersion: "chaos",
    subjects: (workload) => ({
      hello: subjects.agentHello(workload),
      down: subjects.agentDown(workload),
      up: (gateway) => subjects.agentUp(workload, gateway),
    }),
  });
  host.open([natsTransport(bus.nc)]);
  await commitBody(operator, -1);
  await operator.reportAll(
    Array.from({ length: KNOWN }, (_, index) => ({
      id: `x-${index}`,
      labels: { app: "cycles" },
      addresses: [`10.205.0.${index}`],
    })),
  );
  return new Cycler(bus, operator, host);
}

async function commitBody(operator: Operator, number: number): Promise<void> {
  const [high, low] = [((number + 1) >> 8) & 255, (number + 1) & 255];
  const peers = [{ cidr: `10.206.${high}.${low}/32` }];
  const rules = [{ name: "in", peers, entries: [{ protocol: "tcp", ports: ["1"] }] }];
  const body = { kind: "Ruleset", scope: { app: ["cycles"] }, rules };
  await operator.commit([document("ruleset", "cycles", body)], `cycle ${number}`);
}

function isOpen({ phase }: { readonly phase: string }): boolean {
  return phase === "open";
}
