import { PortClass, Presence } from "@ringwall/wire";

/** What the registry has to hold for a pod, said without any of the code that maps pods. */
export interface ExpectedWorkload {
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  readonly presence: Presence;
  readonly outbounds: readonly string[];
  /** Service, address, port and classes of each row. */
  readonly rows: readonly (readonly [
    string,
    string,
    number,
    Readonly<Record<number, PortClass>>,
  ])[];
}

/** A cluster in JSON and what it means. */
export interface Estate {
  readonly objects: readonly object[];
  readonly expected: ReadonlyMap<string, ExpectedWorkload>;
  /** Number of pods, those that mean nothing included. */
  readonly pods: number;
}

interface PodPlan {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ips: readonly string[];
  readonly account?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly hostNetwork?: boolean;
  readonly phase?: string;
  readonly ready?: boolean;
  readonly deleting?: boolean;
  readonly ports?: readonly object[];
  readonly node?: string;
  readonly version?: number;
}

const NODES = 8;

/** A pod as `kubectl get -o json` prints it. */
export function podJson(plan: PodPlan): object {
  const { namespace, name } = plan;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      uid: `uid-${namespace}-${name}`,
      resourceVersion: String(plan.version ?? 1000),
      creationTimestamp: "2026-03-01T10:00:00Z",
      labels: plan.labels,
      annotations: plan.annotations ?? {},
      ...(plan.deleting ? { deletionTimestamp: "2026-03-01T11:00:00Z" } : {}),
    },
    spec: {
      nodeName: plan.node ?? "node-0",
      serviceAccountName: plan.account ?? "default",
      ...(plan.hostNetwork ? { hostNetwork: true } : {}),
      containers: [{ name: "main", image: "registry.example/app:1", ports: plan.ports ?? [] }],
    },
    status: {
      phase: plan.phase ?? "Running",
      ...(plan.ips.length > 0
        ? { podIP: plan.ips[0], podIPs: plan.ips.map((ip) => ({ ip })) }
        : {}),
      conditions: [{ type: "Ready", status: plan.ready === false ? "False" : "True" }],
    },
  };
}

function serviceJson(namespace: string, name: string, app: string, ports: object[]): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace, uid: `uid-svc-${namespace}-${name}`, resourceVersion: "900" },
    spec: { type: "ClusterIP", selector: { app }, ports },
  };
}

class Builder {
  readonly objects: object[] = [];
  readonly expected = new Map<string, ExpectedWorkload>();
  pods = 0;
  #hosts = 0;

  ips(dual: boolean): string[] {
    this.#hosts += 1;
    const [high, low] = [Math.floor(this.#hosts / 250), (this.#hosts % 250) + 1];
    return dual
      ? [`10.244.${high}.${low}`, `fd00:10:244::${this.#hosts.toString(16)}`]
      : [`10.244.${high}.${low}`];
  }

  add(plan: PodPlan, expected: Partial<ExpectedWorkload> | undefined): void {
    this.pods += 1;
    this.objects.push(podJson({ node: `node-${this.pods % NODES}`, ...plan }));
    if (expected !== undefined) {
      this.expected.set(`${plan.namespace}_${plan.name}`, {
        labels: {
          ...plan.labels,
          "kubernetes.io/namespace": plan.namespace,
          "kubernetes.io/service-account": plan.account ?? "default",
        },
        addresses: plan.ips,
        presence: Presence.LIVE,
        outbounds: [],
        rows: [],
        ...expected,
      });
    }
  }
}

function deployments(build: Builder): void {
  for (const [index, namespace] of ["shop", "payments", "search", "media"].entries()) {
    for (const app of ["web", "api", "worker"]) {
      const labels = (pod: string) => ({ app, "pod-template-hash": pod });
      const ports = [{ name: "http", containerPort: 8080 + index }];
      if (app !== "worker") {
        const port = { name: "http-main", port: 80, targetPort: "http" };
        build.objects.push(serviceJson(namespace, app, app, [port]));
      }
      const rows: ExpectedWorkload["rows"] =
        app === "worker"
          ? []
          : [[`${namespace}/${app}`, "", 8080 + index, { [8080 + index]: PortClass.HTTP }]];
      for (let replica = 0; replica < 18; replica += 1) {
        const name = `${app}-7d9f8b6c5-${replica.toString(36).padStart(5, "x")}`;
        const plan = { namespace, name, labels: labels("7d9f8b6c5"), ports };
        const ips = build.ips(replica % 2 === 0);
        if (replica === 15) {
          build.add({ ...plan, ips, ready: false }, { rows, presence: Presence.DRAINING });
        } else if (replica === 16) {
          build.add({ ...plan, ips, deleting: true }, { rows, presence: Presence.DRAINING });
        } else if (replica === 17) {
          const pending = { ...plan, ips: [], phase: "Pending", ready: false };
          build.add(pending, { rows, presence: Presence.DRAINING });
        } else {
          build.add({ ...plan, ips }, { rows });
        }
      }
    }
  }
}

function daemonSets(build: Builder): void {
  const port = { name: "metrics", port: 9100, targetPort: 9100 };
  build.objects.push(serviceJson("monitoring", "node-exporter", "node-exporter", [port]));
  for (let node = 0; node < NODES; node += 1) {
    const address = `192.168.10.${node + 10}`;
    const exporter = {
      namespace: "monitoring",
      name: `node-exporter-${node}`,
      labels: { app: "node-exporter" },
      ips: [address],
      hostNetwork: true,
    };
    const classes = { 9100: PortClass.TCP };
    build.add(exporter, {
      addresses: [],
      rows: [["monitoring/node-exporter", address, 9100, classes]],
    });
    const proxy = { ...exporter, name: `kube-proxy-${node}`, labels: { app: "kube-proxy" } };
    build.add(proxy, { addresses: [] });
    const logs = { namespace: "logging", name: `fluent-${node}`, labels: { app: "fluent" } };
    build.add({ ...logs, ips: build.ips(true) }, {});
  }
}

function statefulSets(build: Builder): void {
  for (const namespace of ["shop", "payments", "search"]) {
    for (let ordinal = 0; ordinal < 3; ordinal += 1) {
      build.add(
        {
          namespace,
          name: `db-${ordinal}`,
          labels: { app: "db", role: ordinal === 0 ? "primary" : "replica" },
          ips: build.ips(true),
          account: "postgres",
          annotations: {
            "endpoint.aether.io/port": "5432",
            "endpoint.aether.io/protocol": "tcp",
            "endpoint.aether.io/ports": "9187=http1",
            "config.aether.io/upstreams": `${namespace}/backup`,
          },
        },
        {
          outbounds: [`${namespace}/backup`],
          rows: [
            [`${namespace}/postgres`, "", 5432, { 5432: PortClass.TCP, 9187: PortClass.HTTP }],
          ],
        },
      );
    }
  }
}

/** Jobs that have ended keep an address in their status; two of them one that lives on elsewhere. */
function jobs(build: Builder): void {
  for (let run = 0; run < 60; run += 1) {
    const namespace = ["shop", "payments", "search"][run % 3] ?? "shop";
    const name = `report-${28_000_000 + run}-abcde`;
    const labels = { app: "report", "job-name": `report-${run}` };
    const phase = run % 4 === 0 ? "Failed" : "Succeeded";
    build.add({ namespace, name, labels, ips: build.ips(false), phase, ready: false }, undefined);
  }
  for (const run of [1, 2]) {
    const ips = build.ips(false);
    const labels = { app: "batch" };
    const plan = { namespace: "shop", labels, ips };
    build.add({ ...plan, name: `batch-done-${run}`, phase: "Succeeded", ready: false }, undefined);
    build.add({ ...plan, name: `batch-new-${run}` }, {});
  }
  build.add(
    {
      namespace: "search",
      name: "reindex-1-running",
      labels: { app: "reindex" },
      ips: build.ips(true),
    },
    {},
  );
}

/** A cluster of more than 300 pods of every kind. */
export function kubernetesEstate(): Estate {
  const build = new Builder();
  deployments(build);
  daemonSets(build);
  statefulSets(build);
  jobs(build);
  return { objects: build.objects, expected: build.expected, pods: build.pods };
}

/** One event of a watch. */
export interface WatchedEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: object;
}

/** A rolling restart of a deployment, in the order in which the API server tells of it. */
export function rollingRestart(replicas: number): WatchedEvent[] {
  const events: WatchedEvent[] = [];
  let version = 1000;
  const say = (type: WatchedEvent["type"], plan: Omit<PodPlan, "namespace" | "labels">) => {
    version += 1;
    const all = { ...plan, namespace: "shop", labels: { app: "web" }, version };
    events.push({ type, object: podJson(all) });
  };
  for (let replica = 0; replica < replicas; replica += 1) {
    say("ADDED", { name: `web-old-${replica}`, ips: [`10.244.9.${replica + 1}`] });
  }
  for (let replica = 0; replica < replicas; replica += 1) {
    const [older, newer] = [`web-old-${replica}`, `web-new-${replica}`];
    // The pod's address is given to the next one as soon as it is free.
    const [ips, freed] = [[`10.244.9.${replica + 101}`], [`10.244.9.${replica + 1}`]];
    say("ADDED", { name: newer, ips: [], phase: "Pending", ready: false });
    say("MODIFIED", { name: newer, ips, ready: false });
    say("MODIFIED", { name: newer, ips });
    say("MODIFIED", { name: older, ips: freed, deleting: true });
    say("MODIFIED", { name: older, ips: freed, deleting: true, ready: false });
    say("MODIFIED", { name: older, ips: freed, deleting: true, phase: "Succeeded" });
    say("DELETED", { name: older, ips: freed, deleting: true, phase: "Succeeded" });
  }
  return events;
}
