import { freePort, type NatsServer, startNats } from "@ringwall/testkit";
import { AgentProcess } from "./lab/agent-process.ts";
import { ControlPlane } from "./lab/control-plane.ts";
import { Estate } from "./lab/estate.ts";
import { FaultyProxy } from "./lab/faulty-proxy.ts";
import { Fleet } from "./lab/fleet.ts";
import { NatsCluster } from "./lab/nats-cluster.ts";
import { SmallDisk } from "./lab/small-disk.ts";
import { VersionLog } from "./lab/version-log.ts";
import { Witness } from "./lab/witness.ts";
import { Writer } from "./lab/writer.ts";
import { type GroundKind, type Scenario, type Size, Skipped } from "./scenario.ts";
import { Trial, type TrialParts } from "./trial.ts";

const INSTANCES = 2;
const CONNECTIONS = 4;
const AGENTS_PER_CONNECTION = 40;
const DISK_MEGABYTES = 48;
const FLEET = { ci: 32, full: 200 } as const;
const ON_DISK = { ci: 4, full: 16 } as const;

type Below = Pick<TrialParts, "server" | "monitorPort" | "cluster" | "proxy" | "disk">;

/** A control plane with its agents, all at head, on which scenarios are run. */
export class Ground {
  readonly trial: Trial;
  readonly kind: GroundKind;

  private constructor(trial: Trial, kind: GroundKind) {
    this.trial = trial;
    this.kind = kind;
  }

  /** Builds one and waits until every agent has its policy. Throws Skipped where it can't be had. */
  static async build(scenario: Scenario, size: Size): Promise<Ground> {
    const kind = scenario.ground ?? "shared";
    const below = await buildBelow(kind);
    const { server, cluster, proxy } = below;
    const url = cluster?.url ?? server.url;
    const plane = await ControlPlane.start({
      url,
      instances: INSTANCES,
      args: scenario.args ?? {},
      ...(kind === "proxied" && proxy !== undefined ? { servicesUrl: proxy.url } : {}),
      ...(cluster === undefined ? {} : { replicas: cluster.nodes.length }),
    });
    const inFleet = scenario.agents?.(size) ?? FLEET[size];
    const estate = new Estate(inFleet + ON_DISK[size]);
    const witness = new Witness(estate);
    const writer = new Writer(plane.operator, estate);
    await plane.operator.commit(estate.documents(), "the estate");
    await plane.operator.reportAll(estate.reported());
    const [fleet, agents] = await Promise.all([
      Fleet.start({
        url: kind === "proxied-agents" && proxy !== undefined ? proxy.url : url,
        connections: Math.max(CONNECTIONS, Math.ceil(inFleet / AGENTS_PER_CONNECTION)),
        workloads: estate.agents.slice(0, inFleet),
        witness,
      }),
      AgentProcess.start(url, estate.agents.slice(inFleet)),
    ]);
    const log = new VersionLog();
    const trial = new Trial({
      ...{ size, plane, estate, witness, writer, log, fleet, agents },
      ...below,
    });
    await plane.ready();
    await trial.atHead();
    return new Ground(trial, kind);
  }

  /** Ends everything; keeps the logs of the services if asked to. */
  async tearDown(keepLogs: boolean): Promise<void> {
    const { plane, fleet, agents, server, cluster, proxy, disk, writer } = this.trial.parts;
    await writer.stop().catch(() => undefined);
    await agents.stop();
    await fleet.stop();
    await plane.stop(keepLogs);
    await proxy?.close();
    await (cluster ?? server).stop();
    await disk?.unmount();
  }
}

async function buildBelow(kind: GroundKind): Promise<Below> {
  switch (kind) {
    case "cluster": {
      const cluster = await NatsCluster.start();
      return { server: first(cluster.nodes), cluster };
    }
    case "proxied":
    case "proxied-agents": {
      const server = await startNats();
      return { server, proxy: await FaultyProxy.start(server.port) };
    }
    case "small-disk": {
      const disk = await SmallDisk.mount(DISK_MEGABYTES);
      if (typeof disk === "string") throw new Skipped(disk);
      // The server believes in a large disk, so that it meets the end of the real one.
      const jetstream = "max_file_store: 10GB";
      return { server: await startNats({ storeDir: `${disk.directory}/store`, jetstream }), disk };
    }
    default: {
      const monitorPort = await freePort();
      const config = `http: "127.0.0.1:${monitorPort}"`;
      return { server: await startNats({ config }), monitorPort };
    }
  }
}

function first(nodes: readonly NatsServer[]): NatsServer {
  const [node] = nodes;
  if (node === undefined) throw new Error("the cluster has no node");
  return node;
}
