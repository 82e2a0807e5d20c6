import { create } from "@bufbuild/protobuf";
import { readRow } from "@ringwall/endpointmeta";
import {
  InventoryReportSchema,
  type ReportWorkloadRequest,
  ReportWorkloadRequestSchema,
  WorkloadSource,
} from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { agentReport, declaredReport, kubernetesReports, podWorkloadId } from "./index.ts";

/** What a workload is, whatever tells of it. */
interface Case {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  readonly services: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly draining: boolean;
}

const BASE: Case = {
  name: "web-1",
  namespace: "shop",
  labels: { app: "web", env: "prod" },
  addresses: ["10.1.0.4", "fd00::4"],
  services: ["shop/web"],
  annotations: {
    "config.aether.io/upstreams": "shop/db",
    "endpoint.aether.io/port": "443",
    "endpoint.aether.io/ports": "9000=tcp,9001=udp",
    "endpoint.aether.io/protocol": "http",
    "endpoint.aether.io/weight": "7",
    "metadata.endpoint.aether.io/zone": "a",
  },
  draining: false,
};

const CASES: readonly Case[] = [
  BASE,
  { ...BASE, name: "draining", draining: true },
  { ...BASE, name: "no-address", addresses: [] },
  { ...BASE, name: "one-family", addresses: ["10.1.0.5"] },
  { ...BASE, name: "bad-ports", annotations: { "endpoint.aether.io/ports": "80=grpc" } },
  { ...BASE, name: "weight-zero", annotations: { "endpoint.aether.io/weight": "0" } },
  { ...BASE, name: "no-labels", labels: {} },
];

type Source = (each: Case) => ReportWorkloadRequest | undefined;

const SOURCES: Readonly<Record<string, Source>> = {
  agent: (each) =>
    agentReport(
      { id: idOf(each), namespace: each.namespace, existingOnly: false },
      create(InventoryReportSchema, {
        addresses: [...each.addresses],
        services: [...each.services],
        annotations: { ...each.annotations },
        draining: each.draining,
      }),
    ),
  declared: (each) =>
    declaredReport({
      id: idOf(each),
      namespace: each.namespace,
      labels: each.labels,
      addresses: each.addresses,
      services: each.services,
      annotations: each.annotations,
      outbounds: [],
      attributes: {},
      draining: each.draining,
    }),
  kubernetes: (each) => kubernetesReports(podOf(each)).reports[0],
};

function idOf({ namespace, name }: Case): string {
  return podWorkloadId(namespace, name);
}

function podOf(each: Case): unknown {
  return {
    kind: "Pod",
    metadata: {
      name: each.name,
      namespace: each.namespace,
      uid: `uid-${each.name}`,
      labels: each.labels,
      annotations: { ...each.annotations, "kubectl.kubernetes.io/restartedAt": "now" },
    },
    spec: { serviceAccountName: "web", containers: [] },
    status: {
      phase: "Running",
      podIP: each.addresses[0],
      podIPs: each.addresses.map((ip) => ({ ip })),
      conditions: [{ type: "Ready", status: each.draining ? "False" : "True" }],
    },
  };
}

/** A report without what only its kind of source can say. */
function common(report: ReportWorkloadRequest, source: string): ReportWorkloadRequest {
  const labels = Object.entries(report.labels).filter(([key]) => !key.startsWith("kubernetes.io/"));
  return create(ReportWorkloadRequestSchema, {
    ...report,
    source: WorkloadSource.UNSPECIFIED,
    attributes: {},
    // An agent never gives labels.
    labels: source === "agent" ? {} : Object.fromEntries(labels),
  });
}

describe.each(Object.entries(SOURCES))("the source %s", (name, source) => {
  it.each(CASES.map((each) => [each.name, each] as const))("says everything of %s", (_, each) => {
    const services = name === "kubernetes" && !declares(each) ? [] : [...each.services];
    const wanted = create(ReportWorkloadRequestSchema, {
      id: idOf(each),
      namespace: each.namespace,
      labels: name === "agent" ? {} : { ...each.labels },
      addresses: [...each.addresses],
      services,
      annotations: { ...each.annotations },
      draining: each.draining,
    });
    const report = source(each);
    const actual = report === undefined ? undefined : common(report, name);
    expect(actual).toEqual(wanted);
  });
});

describe("all sources", () => {
  it("lead to the same row through the one reading of annotations", () => {
    const rows = Object.values(SOURCES).map((source) => {
      const report = source(BASE);
      return readRow(report?.services[0] ?? "", report?.annotations);
    });
    expect(rows[0]).toMatchObject({ port: 443, ports: [443, 9000, 9001], weight: 7 });
    expect(rows[1]).toEqual(rows[0]);
    expect(rows[2]).toEqual(rows[0]);
  });
});

function declares({ annotations }: Case): boolean {
  return Object.keys(annotations).some((key) => key.startsWith("endpoint.aether.io/"));
}
