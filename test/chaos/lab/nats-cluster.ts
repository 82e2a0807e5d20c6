import type { Bus } from "@ringwall/bus";
import { eventually, freePort, type NatsServer, startNats } from "@ringwall/testkit";

const NODES = 3;
const CURRENT_DEADLINE_MS = 60_000;

/** Three servers of one cluster on 127.0.0.1, each with a store of its own. */
export class NatsCluster {
  readonly nodes: readonly NatsServer[];

  private constructor(nodes: readonly NatsServer[]) {
    this.nodes = nodes;
  }

  static async start(): Promise<NatsCluster> {
    const ports = await distinctPorts(NODES);
    const routes = ports.map((port) => `"nats-route://127.0.0.1:${port}"`).join(", ");
    const nodes = await Promise.all(
      ports.map((port) =>
        startNats({
          config: `cluster { name: "chaos", listen: "127.0.0.1:${port}", routes: [${routes}] }`,
        }),
      ),
    );
    return new NatsCluster(nodes);
  }

  /** URL that names every node. */
  get url(): string {
    return this.nodes.map(({ url }) => url).join(",");
  }

  /** The node with a server's name. */
  named(server: string): NatsServer {
    const node = this.nodes.find(({ port }) => server === `test-${port}`);
    if (node === undefined) throw new Error(`there is no server ${server}`);
    return node;
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}

/** Name of the server that leads a stream; empty while there is none. */
export async function leaderOf(bus: Bus, stream: string): Promise<string> {
  const { cluster } = await bus.jsm.streams.info(stream);
  return cluster?.leader ?? "";
}

/** Has every stream led by another server. */
export async function changeLeaders(bus: Bus): Promise<number> {
  let changed = 0;
  for await (const { config } of bus.jsm.streams.list()) {
    const answer = await bus.nc.request(`$JS.API.STREAM.LEADER.STEPDOWN.${config.name}`, "", {
      timeout: 5000,
    });
    if (answer.json<{ success?: boolean }>().success === true) changed += 1;
  }
  return changed;
}

/** Waits until every replica of every stream has everything. */
export async function allCurrent(bus: Bus): Promise<void> {
  await eventually(
    "every replica is current",
    async () => {
      const behind: string[] = [];
      try {
        for await (const { config, cluster } of bus.jsm.streams.list()) {
          const replicas = cluster?.replicas ?? [];
          const isWhole = replicas.length === NODES - 1 && replicas.every(({ current }) => current);
          if (!isWhole) behind.push(config.name);
        }
      } catch (error) {
        behind.push(String(error));
      }
      return behind;
    },
    (behind) => behind.length === 0,
    CURRENT_DEADLINE_MS,
  );
}

async function distinctPorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
