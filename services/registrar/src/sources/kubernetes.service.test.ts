import { KubeConfig } from "@kubernetes/client-node";
import { api, type RunningService } from "@ringwall/bus";
import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import { WorkloadSource } from "@ringwall/wire";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ClusterServer } from "../testing/cluster-server.ts";
import { kubernetesEstate, podJson } from "../testing/kubernetes-estate.ts";
import { freshPrefix, registrarClient, startRegistrar } from "../testing/registrar-client.ts";
import { clusterOf } from "./cluster.ts";
import { runKubernetes } from "./kubernetes.ts";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.stop());

let cluster: ClusterServer;
let url: string;
let service: RunningService;
let adapters: { stop: AbortController; running: Promise<void> }[];
let lines: string[];
beforeEach(async () => {
  cluster = new ClusterServer();
  url = await cluster.start();
  service = await startRegistrar(nats, freshPrefix());
  adapters = [];
  lines = [];
});
afterEach(async () => {
  await stopAdapters();
  await cluster.stop();
  await service.stop();
});

async function startAdapter(isActive = () => true): Promise<void> {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: "test", server: url, skipTLSVerify: true }, { name: "u" });
  const stop = new AbortController();
  const parts = {
    cluster: await clusterOf(config),
    api: api(service.bus),
    isActive,
    log: (level: string, message: string) => lines.push(`${level}: ${message}`),
  };
  adapters.push({ stop, running: runKubernetes(parts, stop.signal) });
}

async function stopAdapters(): Promise<void> {
  for (const { stop, running } of adapters.splice(0)) {
    stop.abort();
    await running;
  }
}

async function ids(): Promise<string[]> {
  const { workloads } = await registrarClient(service).list({ limit: 1_000 });
  return workloads.map((record) => record.id);
}

function pod(name: string, more: { ready?: boolean } = {}): object {
  return podJson({ namespace: "shop", name, labels: { app: "web" }, ips: ["10.0.0.1"], ...more });
}

function settled(wanted: readonly string[]): Promise<unknown> {
  return eventually(`${wanted.length} workloads`, ids, (each) => each.join() === wanted.join());
}

describe("the Kubernetes adapter", () => {
  it("makes the registry like the cluster and follows its changes", async () => {
    cluster.put(pod("a"));
    await startAdapter();
    await settled(["shop_a"]);
    cluster.put(pod("b"));
    await settled(["shop_a", "shop_b"]);
    cluster.delete(pod("a"));
    await settled(["shop_b"]);
  });

  it("goes on when watches are closed, expire or fail", async () => {
    cluster.put(pod("a"));
    await startAdapter();
    await settled(["shop_a"]);
    cluster.put(pod("b"));
    cluster.closeWatches();
    await settled(["shop_a", "shop_b"]);
    cluster.compact();
    cluster.closeWatches();
    cluster.delete(pod("b"));
    cluster.compact();
    await settled(["shop_a"]);
    cluster.failures = 2;
    cluster.closeWatches();
    cluster.put(pod("c"));
    await settled(["shop_a", "shop_c"]);
    expect(lines.some((line) => line.startsWith("warn: Kubernetes can't be read"))).toBe(true);
  });

  it("reads more than a page, and removes what is gone since it last ran", async () => {
    const estate = kubernetesEstate();
    for (const object of estate.objects) {
      cluster.put(object);
    }
    for (let index = 0; index < 400; index += 1) {
      cluster.put(pod(`extra-${index}`));
    }
    await startAdapter();
    const wanted = estate.expected.size + 400;
    await eventually("the whole estate", ids, (each) => each.length === wanted);
    await stopAdapters();
    cluster.delete(pod("extra-0"));
    await startAdapter();
    await eventually("the removal", ids, (each) => each.length === wanted - 1);
    expect(cluster.lists).toBe(4);
  });

  it("removes nothing when the first reading would remove a mass", async () => {
    for (const name of ["a", "b", "c", "d"]) {
      cluster.put(pod(name));
    }
    await startAdapter();
    await eventually("four pods", ids, (each) => each.length === 4);
    await stopAdapters();
    cluster.forgetAll();
    await startAdapter();
    await eventually("the alarm", () => lines.some((line) => line.includes("none is removed")));
    expect(await ids()).toHaveLength(4);
  });

  it("leaves workloads of other sources alone", async () => {
    await registrarClient(service).report({ id: "vm-1", source: WorkloadSource.OPERATOR });
    cluster.put(pod("a"));
    await startAdapter();
    await settled(["shop_a", "vm-1"]);
  });

  it("runs only where it is active", async () => {
    let active = false;
    cluster.put(pod("a"));
    await startAdapter(() => active);
    await startAdapter(() => false);
    expect(cluster.lists).toBe(0);
    active = true;
    await settled(["shop_a"]);
    expect(cluster.lists).toBe(2);
  });
});
