import { describe, expect, it } from "vitest";
import { KubernetesModel } from "./kubernetes-model.ts";
import { kubernetesReports } from "./kubernetes-reports.ts";
import { podWorkloadId } from "./workload-id.ts";

interface PodInit {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly version?: number;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly spec?: object;
  readonly status?: object;
  readonly metadata?: object;
}

function pod(init: PodInit = {}): object {
  return {
    kind: "Pod",
    metadata: {
      name: init.name ?? "web-1",
      namespace: init.namespace ?? "shop",
      uid: init.uid ?? `uid-${init.name ?? "web-1"}`,
      resourceVersion: String(init.version ?? 1),
      labels: init.labels ?? { app: "web" },
      annotations: init.annotations ?? {},
      ...init.metadata,
    },
    spec: {
      containers: [{ ports: [{ name: "web", containerPort: 3000 }] }],
      ...init.spec,
    },
    status: {
      phase: "Running",
      podIP: "10.1.0.4",
      podIPs: [{ ip: "10.1.0.4" }, { ip: "fd00::4" }],
      conditions: [{ type: "Ready", status: "True" }],
      ...init.status,
    },
  };
}

function service(name: string, spec: object = {}): object {
  return {
    kind: "Service",
    metadata: { name, namespace: "shop", uid: `svc-${name}`, resourceVersion: "1" },
    spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: "web" }], ...spec },
  };
}

function one(...objects: object[]) {
  const { reports } = kubernetesReports({ kind: "List", items: objects });
  expect(reports).toHaveLength(1);
  return reports[0];
}

describe("a pod", () => {
  it("is a workload with both families and the labels of its namespace and account", () => {
    expect(one(pod({ spec: { serviceAccountName: "web" } }))).toMatchObject({
      id: "shop_web-1",
      namespace: "shop",
      addresses: ["10.1.0.4", "fd00::4"],
      labels: {
        app: "web",
        "kubernetes.io/namespace": "shop",
        "kubernetes.io/service-account": "web",
      },
      services: [],
      draining: false,
    });
  });

  it.each([
    ["not ready", pod({ status: { conditions: [{ type: "Ready", status: "False" }] } })],
    ["without conditions", pod({ status: { conditions: [] } })],
    ["being deleted", pod({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } })],
  ])("stays a peer and takes no connections while it is %s", (_, value) => {
    expect(one(value)).toMatchObject({ draining: true, addresses: ["10.1.0.4", "fd00::4"] });
  });

  it("is no workload once it has finished, although its status still shows an address", () => {
    for (const phase of ["Succeeded", "Failed"]) {
      expect(kubernetesReports(pod({ status: { phase } })).reports).toEqual([]);
    }
  });

  it("on its node's network serves at the node's address and is nobody's peer", () => {
    const report = one(pod({ spec: { hostNetwork: true } }), service("web"));
    expect(report).toMatchObject({
      addresses: [],
      serviceAddresses: ["10.1.0.4", "fd00::4"],
      services: ["shop/web"],
    });
  });

  it("serves the service of its account if it declares an endpoint", () => {
    const annotations = { "endpoint.aether.io/port": "443" };
    const spec = { serviceAccountName: "api" };
    expect(one(pod({ annotations, spec }))?.services).toEqual(["shop/api"]);
    expect(one(pod({ spec }))?.services).toEqual([]);
    expect(one(pod({ annotations }))?.services).toEqual([]);
  });

  it("keeps only annotations of endpoints and routes", () => {
    const annotations = {
      "endpoint.aether.io/weight": "2",
      "metadata.endpoint.aether.io/zone": "a",
      "config.aether.io/upstreams": "shop/db",
      "kubectl.kubernetes.io/last-applied-configuration": "x".repeat(100_000),
    };
    expect(Object.keys(one(pod({ annotations }))?.annotations ?? {})).toHaveLength(3);
  });

  it("drops labels that are out of grammar and says so", () => {
    const labels = { app: "web", empty: "", [`${"x".repeat(60)}/long`]: "1" };
    const { reports, problems } = kubernetesReports(pod({ labels }));
    expect(Object.keys(reports[0]?.labels ?? {})).not.toContain("empty");
    expect(problems).toMatchObject([{ object: "shop/web-1", code: "labels-dropped" }]);
  });

  it("can't claim another namespace by a label", () => {
    const labels = { "kubernetes.io/namespace": "payments" };
    expect(one(pod({ labels }))?.labels["kubernetes.io/namespace"]).toBe("shop");
  });
});

describe("a service", () => {
  it("is served by the pods that its selector finds, at the ports of their containers", () => {
    const dns = { port: 53, targetPort: 5353, protocol: "UDP", name: "dns" };
    const ports = [{ port: 80, targetPort: "web", name: "http-web" }, dns];
    const report = one(pod(), service("web", { ports }), service("admin", { ports: [] }));
    expect(report?.services).toEqual(["shop/admin", "shop/web"]);
    expect(report?.annotations).toEqual({
      "endpoint.aether.io/port": "3000",
      "endpoint.aether.io/ports": "3000=h1,5353=udp",
      "endpoint.aether.io/protocol": "http",
    });
  });

  it("leaves the ports to the pod's own annotations", () => {
    const annotations = { "endpoint.aether.io/port": "9999" };
    expect(one(pod({ annotations }), service("web"))?.annotations).toEqual(annotations);
  });

  it.each([
    ["no selector", { selector: {} }],
    ["another selector", { selector: { app: "db" } }],
    ["an external name", { type: "ExternalName" }],
  ])("with %s is served by no pod", (_, spec) => {
    expect(one(pod(), service("web", spec))?.services).toEqual([]);
  });

  it.each([
    [{ port: 80, protocol: "SCTP" }, undefined],
    [{ port: 80, targetPort: "nobody" }, undefined],
    [{ port: 80, appProtocol: "kubernetes.io/h2c" }, "http"],
    [{ port: 80, name: "grpc-api" }, "http"],
    [{ port: 443, name: "https" }, "tcp"],
    [{ port: 5432, name: "postgres" }, "tcp"],
  ])("%j has the class %s", (port, portClass) => {
    const report = one(pod(), service("web", { ports: [port] }));
    expect(report?.annotations["endpoint.aether.io/protocol"]).toBe(portClass);
  });
});

describe("a watched cluster", () => {
  it("tells what changed, and a removal once a pod is gone or has finished", () => {
    const model = new KubernetesModel();
    model.put(pod());
    model.put(pod({ name: "job-1" }));
    expect(model.takeChanges().reports.map((report) => report.id)).toEqual([
      "shop_job-1",
      "shop_web-1",
    ]);
    expect(model.takeChanges()).toEqual({ reports: [], removes: [] });
    model.put(service("web"));
    expect(model.takeChanges().reports).toHaveLength(2);
    model.put(pod({ name: "job-1", version: 2, status: { phase: "Succeeded" } }));
    model.delete(pod({ version: 3 }));
    expect(model.takeChanges()).toEqual({ reports: [], removes: ["shop_job-1", "shop_web-1"] });
  });

  it("keeps the newest version and never brings back what was deleted", () => {
    const model = new KubernetesModel();
    model.put(pod({ version: 10, labels: { v: "new" } }));
    model.put(pod({ version: 9, labels: { v: "old" } }));
    expect(model.reports()[0]?.labels.v).toBe("new");
    model.delete(pod({ version: 11 }));
    model.put(pod({ version: 10 }));
    expect(model.reports()).toEqual([]);
  });

  it("takes the newer of two pods of one name while the older lingers", () => {
    const model = new KubernetesModel();
    const at = (time: string) => ({ creationTimestamp: time });
    model.put(pod({ uid: "b", metadata: at("2026-01-02T00:00:00Z"), labels: { v: "new" } }));
    model.put(pod({ uid: "a", metadata: at("2026-01-01T00:00:00Z"), labels: { v: "old" } }));
    expect(model.reports()[0]?.labels.v).toBe("new");
    model.delete(pod({ uid: "b" }));
    expect(model.takeChanges().reports[0]?.labels.v).toBe("old");
  });

  it("drops what a new list does not name", () => {
    const model = new KubernetesModel();
    model.put(pod());
    model.put(pod({ name: "web-2" }));
    model.put(service("web"));
    model.takeChanges();
    model.retain("pod", new Set(["uid-web-1"]));
    model.retain("service", new Set());
    expect(model.takeChanges()).toMatchObject({
      reports: [{ id: "shop_web-1", services: [] }],
      removes: ["shop_web-2"],
    });
  });
});

describe("a document", () => {
  it("may be a typed list whose items do not repeat their kind", () => {
    const { kind: _, ...item } = pod() as { kind: string };
    expect(kubernetesReports({ kind: "PodList", items: [item] }).reports).toHaveLength(1);
  });

  it("is never refused: what can't be read is a problem", () => {
    expect(kubernetesReports(7).problems).toMatchObject([{ code: "not-an-object" }]);
    const items = [null, { kind: "Pod" }, { kind: "Service", metadata: 3 }, { kind: "Node" }];
    expect(kubernetesReports({ items }).problems.map(({ object, code }) => [object, code])).toEqual(
      [
        ["document.items[0]", "not-an-object"],
        ["document.items[1]", "no-name"],
        ["document.items[2]", "no-name"],
      ],
    );
    const broken = { kind: "Pod", metadata: { name: "a" }, spec: [], status: { podIPs: "x" } };
    expect(kubernetesReports(broken).reports).toMatchObject([{ id: "default_a", addresses: [] }]);
  });
});

describe("workload ids", () => {
  it("are different for different pods and fit the grammar", () => {
    expect(podWorkloadId("a", "b.c")).toBe("a_b__c");
    const long = podWorkloadId("namespace", "x".repeat(200));
    expect(long).toMatch(/^[a-z0-9_-]{64}$/);
    expect(podWorkloadId("namespace", `${"x".repeat(199)}y`)).not.toBe(long);
  });
});
