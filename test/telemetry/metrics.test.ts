import { create, toBinary } from "@bufbuild/protobuf";
import { api, type Bus, connectBus, partitionOf } from "@ringwall/bus/client";
import { metricsOf, PROCESSES, type ProcessName } from "@ringwall/telemetry";
import { eventually } from "@ringwall/testkit";
import {
  AdmitWorkloadRequestSchema,
  AdmitWorkloadResponseSchema,
  HelloSchema,
  UpSchema,
} from "@ringwall/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ControlPlane } from "./control-plane.ts";
import { settle, WORKLOADS } from "./estate.ts";
import { type Family, parsePage } from "./prometheus-page.ts";

const MANY = 5000;
const AT_ONCE = 64;

let plane: ControlPlane;
let bus: Bus;

beforeAll(async () => {
  plane = await ControlPlane.start({ workloads: WORKLOADS });
  await settle(plane);
  bus = await connectBus({ url: plane.nats.url, name: "metrics-test", prefix: "rw" });
}, 240_000);

afterAll(async () => {
  await bus?.close();
  await plane?.[Symbol.asyncDispose]();
}, 60_000);

async function page(name: ProcessName): Promise<Map<string, Family>> {
  return parsePage(await plane.page(name, "/metrics"));
}

/** Everything that is not described: families, labels and their values. */
function undescribed(name: ProcessName, families: ReadonlyMap<string, Family>): string[] {
  const known = new Map(metricsOf(name).map((metric) => [metric.name, metric]));
  return [...families.values()].flatMap((family) => {
    const metric = known.get(family.name);
    // The exporter tells whom the page is of.
    if (family.name === "target_info") return [];
    if (metric === undefined || metric.kind !== family.type) return [family.name];
    return family.samples.flatMap(({ labels }) =>
      Object.entries(labels)
        .filter(([label, value]) => label !== "le" && !metric.labels[label]?.includes(value))
        .map(([label, value]) => `${family.name}{${label}="${value}"}`),
    );
  });
}

/** Metrics that come with an event which a healthy, small control plane does not have. */
function isRare({ kind, labels }: ReturnType<typeof metricsOf>[number]): boolean {
  return kind === "counter" && Object.keys(labels).length > 1;
}

describe("the metrics pages", () => {
  it.each(PROCESSES)("of the %s show every documented metric and nothing else", async (name) => {
    const missing = async () => {
      const families = await page(name);
      return metricsOf(name)
        .filter((metric) => !isRare(metric) && !families.has(metric.name))
        .map((metric) => metric.name);
    };
    await eventually("every metric", missing, (names) => names.length === 0);
    expect(undescribed(name, await page(name))).toEqual([]);
  });

  it.each(PROCESSES)("of the %s say what each metric means", async (name) => {
    const families = await page(name);
    for (const { name: metric, help } of metricsOf(name)) {
      if (families.has(metric)) expect(families.get(metric)?.help).toBe(help);
    }
  });

  it("have no more series with 5,000 workloads and sessions than with three", async () => {
    const series = async () => {
      const pages = await Promise.all(PROCESSES.map(page));
      const counts = pages.map((families) =>
        [...families.values()].reduce((sum, family) => sum + family.samples.length, 0),
      );
      return Object.fromEntries(PROCESSES.map((name, index) => [name, counts[index] ?? 0]));
    };
    const before = await series();
    const ids = Array.from({ length: MANY }, (_, index) => `many-${index}`);
    await admitAll(ids);
    for (const id of ids) {
      const hello = create(HelloSchema, { nonce: 7n, schemaLevel: 1 });
      const up = create(UpSchema, { body: { case: "hello", value: hello } });
      bus.nc.publish(bus.names.agentHello(id), toBinary(UpSchema, up));
    }
    const sessions = async () => {
      const families = await page("agent-gateway");
      const samples = families.get("ringwall_agents")?.samples ?? [];
      return samples.reduce((sum, { value }) => sum + value, 0);
    };
    await eventually("the sessions", sessions, (count) => count >= MANY);
    const after = await series();
    process.stderr.write(
      `series with 3: ${JSON.stringify(before)}, with 5,003: ${JSON.stringify(after)}\n`,
    );
    for (const name of PROCESSES) {
      expect(undescribed(name, await page(name))).toEqual([]);
      // A histogram or a state that had no sample yet may show its closed set of series.
      expect(after[name]).toBeLessThanOrEqual((before[name] ?? 0) + 40);
    }
  }, 120_000);
});

async function admitAll(ids: readonly string[]): Promise<void> {
  const operations = api(bus);
  const queue = [...ids];
  const work = async () => {
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      const admit = () =>
        operations.call(
          "workload",
          "admit",
          AdmitWorkloadRequestSchema,
          AdmitWorkloadResponseSchema,
          { id, namespace: "shop", labels: { app: "many", role: `r${ids.indexOf(id) % 50}` } },
          { partition: partitionOf(id), timeoutMs: 30_000 },
        );
      let answer = await admit();
      // A registrar with more to write than it can refuses what waited too long, to be asked again.
      while (answer.error?.code === "unavailable") answer = await admit();
      if (answer.error !== undefined) throw new Error(`${id}: ${answer.error.message}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
