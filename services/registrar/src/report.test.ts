import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  PortClass,
  Presence,
  ReportWorkloadRequestSchema,
  type WorkloadRecord,
  WorkloadRecordSchema,
  WorkloadSource,
} from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { judgeReport, sameRecord } from "./report.ts";
import { Scopes } from "./scopes.ts";

type Init = MessageInitShape<typeof ReportWorkloadRequestSchema>;

const SCOPES = new Scopes({
  shop: { services: ["shop/*", "shared/metrics"], subnets: ["10.0.0.0/8", "fd00::/8"] },
});

function judge(request: Init, existing?: WorkloadRecord, wasEnforced = false) {
  const message = create(ReportWorkloadRequestSchema, {
    id: "web-1",
    source: WorkloadSource.KUBERNETES,
    ...request,
  });
  return judgeReport(message, existing, { scopes: SCOPES, wallMs: 1_000, wasEnforced });
}

function stored(request: Init, existing?: WorkloadRecord, wasEnforced = false) {
  const judgement = judge(request, existing, wasEnforced);
  if (judgement.kind === "refused") {
    throw new Error(judgement.message);
  }
  return judgement;
}

function existing(init: MessageInitShape<typeof WorkloadRecordSchema>): WorkloadRecord {
  return create(WorkloadRecordSchema, { id: "web-1", presence: Presence.LIVE, ...init });
}

describe("a report", () => {
  it("becomes a record with parsed addresses, rows and outbounds", () => {
    const { record, problems } = stored({
      labels: { b: "2", a: "1" },
      addresses: ["fd00::1/64", "10.1.0.4/24", "::ffff:10.1.0.4", "127.0.0.1", "fe80::1"],
      services: ["shop/web", "shop/web"],
      annotations: {
        "endpoint.aether.io/port": "443",
        "endpoint.aether.io/ports": "9000=tcp",
        "metadata.endpoint.aether.io/zone": "a",
        "config.aether.io/upstreams": "shop/db, shop/cache,",
      },
      outbounds: ["shop/api"],
      namespace: "shop",
    });
    expect(problems).toEqual([]);
    expect(record).toMatchObject({
      labels: { a: "1", b: "2" },
      addresses: ["10.1.0.4", "fd00::1"],
      rows: [
        {
          service: "shop/web",
          port: 443,
          ports: [443, 9000],
          portClasses: { 443: PortClass.HTTP, 9000: PortClass.TCP },
          weight: 1024,
          metadata: { zone: "a" },
        },
      ],
      outbounds: ["shop/api", "shop/cache", "shop/db"],
      presence: Presence.LIVE,
      namespace: "shop",
    });
  });

  it("refuses bad rows with their reasons and stores the rest of the workload", () => {
    const { record, problems } = stored({
      addresses: ["10.1.0.4", "192.0.2.1"],
      services: ["Shop/Web", "other/db", "shared/metrics", "shop/web"],
      outbounds: ["redis"],
      namespace: "shop",
    });
    expect(record.rows.map((row) => row.service)).toEqual(["shared/metrics", "shop/web"]);
    expect(record.addresses).toEqual(["10.1.0.4"]);
    expect(problems.map(({ code, service, value }) => [code, service || value])).toEqual([
      ["service-key", "Shop/Web"],
      ["service_not_allowed", "other/db"],
      ["address_not_allowed", "192.0.2.1"],
      ["outbound", "redis"],
    ]);
    expect(problems.every((problem) => problem.refused)).toBe(true);
  });

  it("refuses every row whose annotations do not parse", () => {
    const { record, problems } = stored({
      services: ["a/web", "b/web"],
      annotations: { "endpoint.aether.io/ports": "80=grpc" },
    });
    expect(record.rows).toEqual([]);
    expect(problems.filter((each) => each.refused).map((each) => each.service)).toEqual([
      "a/web",
      "b/web",
    ]);
  });

  it("warns of what the strict check finds, and refuses on it when asked to", () => {
    const annotations = { "endpoint.aether.io/port": "18001" };
    const lenient = stored({ services: ["a/web"], annotations });
    expect(lenient.record.rows).toHaveLength(1);
    expect(lenient.problems).toMatchObject([{ code: "port-reserved", refused: false }]);
    const strict = judge({ services: ["a/web"], annotations, strict: true });
    expect(strict).toMatchObject({ kind: "refused", code: "refused" });
    expect(strict.problems).toMatchObject([{ code: "port-reserved", refused: true }]);
  });

  it.each([
    ["an id out of grammar", { id: "Web.1" }, "workload id"],
    ["a label out of grammar", { labels: { "a b": "1" } }, "label key"],
    ["an empty label value", { labels: { a: "" } }, "value"],
    ["a namespace out of grammar", { namespace: "Shop" }, "namespace"],
    ["no source", { source: WorkloadSource.UNSPECIFIED }, "source"],
    ["too many addresses", { addresses: new Array(2_000).fill("10.0.0.1") }, "2000 addresses"],
    ["too large annotations", { annotations: { a: "x".repeat(300_000) } }, "300001 bytes"],
    ["too long attributes", { attributes: { a: "x".repeat(2_000) } }, "attribute a"],
  ] as const)("is refused whole for %s", (_, request, words) => {
    const judgement = judge(request as Init);
    expect(judgement).toMatchObject({ kind: "refused", code: "invalid" });
    expect(judgement.kind === "refused" && judgement.message).toContain(words);
  });

  it("names every fault at once", () => {
    const judgement = judge({ id: "A", namespace: "B", labels: { "": "" } });
    expect(judgement.kind === "refused" && judgement.message.split("; ").length).toBe(4);
  });

  it("is refused when its record does not fit one message", () => {
    const annotations = Object.fromEntries(
      Array.from({ length: 100 }, (_, each) => [
        `metadata.endpoint.aether.io/k${each}`,
        "x".repeat(1_000),
      ]),
    );
    const services = Array.from({ length: 20 }, (_, each) => `a/s${each}`);
    expect(judge({ services, annotations })).toMatchObject({ code: "too_large" });
  });

  it("never creates a workload when it must find it", () => {
    expect(judge({ existingOnly: true })).toMatchObject({ code: "not_found" });
    expect(judge({ existingOnly: true }, existing({})).kind).toBe("record");
  });

  it("keeps the enforced mark, also over a removal", () => {
    expect(stored({}, existing({ enforced: true })).record.enforced).toBe(true);
    expect(stored({}, undefined, true).record.enforced).toBe(true);
    expect(stored({}).record.enforced).toBe(false);
  });

  it("drains when its source says so", () => {
    expect(stored({ draining: true }).record.presence).toBe(Presence.DRAINING);
  });
});

describe("an agent's report", () => {
  const source = WorkloadSource.AGENT;

  it("never brings labels of its own", () => {
    expect(stored({ source, labels: { app: "db" } }).record.labels).toEqual({});
    const admitted = existing({ source: WorkloadSource.OPERATOR, labels: { app: "web" } });
    const { record } = stored({ source, labels: { app: "db" } }, admitted);
    expect(record).toMatchObject({ labels: { app: "web" }, source, leased: true });
  });

  it("serves only what the namespace of its enrolment allows, and nothing without one", () => {
    expect(stored({ source, services: ["a/web"] }).problems).toMatchObject([
      { code: "service_not_allowed" },
    ]);
    const services = ["a/web", "b/web"];
    const { record } = stored({ source, services, namespace: "a" });
    expect(record.rows.map((row) => row.service)).toEqual(["a/web"]);
    const admitted = existing({ source: WorkloadSource.OPERATOR, namespace: "b" });
    expect(stored({ source, services }, admitted).record.rows).toMatchObject([
      { service: "b/web" },
    ]);
  });

  it("does not replace what an adapter or a declaration says", () => {
    const pod = existing({ source: WorkloadSource.KUBERNETES, addresses: ["10.0.0.1"] });
    const reported = { source, addresses: ["10.9.9.9"] };
    expect(stored(reported, pod).record).toBe(pod);
    const declared = existing({ source: WorkloadSource.INVENTORY, addresses: ["10.0.0.1"] });
    const { record, problems } = stored({ ...reported, draining: true }, declared);
    expect(record).toMatchObject({
      source: WorkloadSource.INVENTORY,
      addresses: ["10.0.0.1"],
      presence: Presence.DRAINING,
      leased: true,
    });
    expect(problems).toMatchObject([{ code: "source_owned", refused: false }]);
  });

  it("brings a silent workload back", () => {
    const silent = existing({ source, presence: Presence.EXPIRED, leased: true });
    expect(stored({ source }, silent).record.presence).toBe(Presence.LIVE);
  });
});

describe("an operator's report of an agent's workload", () => {
  const agents = existing({
    source: WorkloadSource.AGENT,
    namespace: "a",
    addresses: ["10.0.0.1"],
    rows: [{ service: "a/web", port: 80, ports: [80], portClasses: { 80: PortClass.HTTP } }],
    presence: Presence.STALE,
    leased: true,
  });

  it("sets labels and keeps what the agent said", () => {
    const request = { source: WorkloadSource.OPERATOR, labels: { app: "web" } };
    const { record } = stored(request, agents);
    expect(record).toMatchObject({
      source: WorkloadSource.AGENT,
      labels: { app: "web" },
      addresses: ["10.0.0.1"],
      presence: Presence.STALE,
    });
    expect(record.rows).toHaveLength(1);
  });

  it("drops rows that another namespace does not allow", () => {
    const request = { source: WorkloadSource.OPERATOR, namespace: "b" };
    expect(stored(request, agents).record.rows).toEqual([]);
  });

  it("is no sign of life where it declares addresses", () => {
    const request = { source: WorkloadSource.INVENTORY, addresses: ["10.0.0.2"] };
    expect(stored(request, agents).record).toMatchObject({
      source: WorkloadSource.INVENTORY,
      addresses: ["10.0.0.2"],
      presence: Presence.STALE,
      leased: true,
    });
  });
});

describe("sameRecord", () => {
  it("looks at everything but the time of the write", () => {
    const record = existing({ labels: { a: "1" }, timeUnixMs: 1n });
    expect(sameRecord(record, { ...record, timeUnixMs: 2n })).toBe(true);
    expect(sameRecord(record, { ...record, labels: { a: "2" } })).toBe(false);
  });
});
