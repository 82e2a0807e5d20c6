/** Hosts the agents of the fanout benchmark: real sessions, policies in memory. */
import { fromBinary } from "@bufbuild/protobuf";
import {
  AgentHost,
  type AgentTransport,
  MemoryBackend,
  MemoryStore,
  natsTransport,
} from "@ringwall/agent";
import { type Bus, connectBus, names } from "@ringwall/bus";
import { DownSchema } from "@ringwall/wire";
import { agentId, type Order, plainSubjects, type Report, unixMs } from "./protocol.ts";

/** Notes when each policy was put in force: its acknowledgement leaves in the same turn. */
class TimedStore extends MemoryStore {
  readonly #committed: () => void;

  constructor(committed: () => void) {
    super();
    this.#committed = committed;
  }

  override async commit(): Promise<void> {
    await super.commit();
    this.#committed();
  }
}

let host: AgentHost | undefined;
let buses: readonly Bus[] = [];
let agents = 0;
let times: number[] = [];
/** Agents whose HelloAck was seen; undefined while none is looked for. */
let greeted: Set<string> | undefined;
let wanted = Number.POSITIVE_INFINITY;

function committed(): void {
  times.push(unixMs());
  if (times.length === wanted) {
    wanted = Number.POSITIVE_INFINITY;
    // The acknowledgements of this turn leave first.
    setImmediate(() => say({ kind: "times", times }));
  }
}

async function start(order: Extract<Order, { kind: "start" }>): Promise<void> {
  const { url, connections } = order;
  agents = order.agents;
  buses = await Promise.all(
    Array.from({ length: connections }, (_, index) =>
      connectBus({ url, name: `bench-agents-${index}` }),
    ),
  );
  const subjects = names();
  host = new AgentHost({
    agentVersion: "bench",
    subjects: (workload) => ({
      hello: subjects.agentHello(workload),
      down: subjects.agentDown(workload),
      up: (gateway) => subjects.agentUp(workload, gateway),
    }),
  });
  for (let index = 0; index < agents; index += 1) {
    const store = new TimedStore(committed);
    await host.add({ workload: agentId(index), store, backend: new MemoryBackend() });
  }
}

/** Every agent's place answers plain messages with an acknowledgement's size. */
async function plain(bytes: number): Promise<void> {
  const answer = new Uint8Array(bytes);
  for (let index = 0; index < agents; index += 1) {
    const nc = buses[index % buses.length]?.nc;
    const { down, up } = plainSubjects(index);
    nc?.subscribe(down, { callback: () => nc.publish(up, answer) });
  }
  await Promise.all(buses.map(({ nc }) => nc.flush()));
}

/** A transport that tells of every HelloAck while it is looked for. */
function watched(transport: AgentTransport): AgentTransport {
  return {
    ...transport,
    subscribe: (subject, take) =>
      transport.subscribe(subject, (payload) => {
        if (greeted !== undefined) look(payload, greeted);
        take(payload);
      }),
  };
}

function look(payload: Uint8Array, seen: Set<string>): void {
  const { workloadId, body } = fromBinary(DownSchema, payload);
  if (body.case !== "helloAck" || seen.has(workloadId)) return;
  seen.add(workloadId);
  times.push(unixMs());
  if (seen.size === agents) {
    greeted = undefined;
    say({ kind: "times", times });
  }
}

async function take(order: Order): Promise<void> {
  switch (order.kind) {
    case "start":
      await start(order);
      break;
    case "open":
      host?.open(buses.map(({ nc }) => watched(natsTransport(nc))));
      break;
    case "expect-acks":
      times = [];
      wanted = order.count;
      break;
    case "expect-sessions":
      times = [];
      greeted = new Set();
      break;
    case "reconnect":
      for (const { nc } of buses) void nc.reconnect();
      break;
    case "plain":
      await plain(order.answerBytes);
      break;
    default:
      order satisfies never;
  }
  say({ kind: "done" });
}

function say(report: Report): void {
  process.send?.(report);
}

process.on("message", (order) => {
  // Texts are the probe's; the benchmark sends exactly these objects.
  if (typeof order !== "string") void take(order as Order);
});
process.channel?.ref();
process.on("disconnect", () => process.exit(0));
