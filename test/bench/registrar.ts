/**
 * The registrar as its own process on a real nats-server: registration of many rows against plain
 * appends to the same server, listing, and the time from a write to the one of many filtered
 * watchers that has to see it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { type Api, api, type Bus, connectBus, partitionOf, watch } from "@ringwall/bus";
import { eventually, freePort, startNats } from "@ringwall/testkit";
import {
  ListWorkloadsRequestSchema,
  ListWorkloadsResponseSchema,
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
  type WatchFrame,
  WatchFrameSchema,
  WatchWorkloadsRequestSchema,
  WorkloadSource,
} from "@ringwall/wire";
import { percentiles, report, reportMachine } from "./harness.ts";

const WORKLOADS = Number(process.env.RINGWALL_BENCH_WORKLOADS ?? 100_000);
const WATCHERS = Number(process.env.RINGWALL_BENCH_WATCHERS ?? 1_000);
const CHURN_SECONDS = 20;
/** 1 % of the workloads in a minute. */
const CHURN_PER_SECOND = Math.max(1, Math.round(WORKLOADS / 100 / 60));
const CONCURRENCY = 256;

interface Stage {
  readonly bus: Bus;
  readonly calls: Api;
  readonly registrar: ChildProcess;
}

/** Runs the benchmark and prints a line for each figure. */
export async function bench(): Promise<void> {
  reportMachine("registrar");
  const nats = await startNats();
  const port = await freePort();
  const main = join(import.meta.dirname, "../../services/registrar/src/main.ts");
  const flags = ["--nats-url", nats.url, "--http-port", String(port)];
  const registrar = spawn(process.execPath, [main, ...flags], {
    env: { ...process.env, RINGWALL_LOG_LEVEL: "silent" },
    stdio: "ignore",
  });
  const bus = await connectBus({ url: nats.url, name: "bench" });
  try {
    await eventually("the registrar is ready", () => isReady(port), Boolean, 30_000);
    const stage = { bus, calls: api(bus), registrar };
    await eventually("every partition has an owner", () => canWriteAll(stage), Boolean, 30_000);
    await registration(stage);
    await listing(stage);
    await churn(stage);
  } finally {
    registrar.kill("SIGTERM");
    await bus.close();
    await nats.stop();
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  } catch {
    return false;
  }
}

async function canWriteAll(stage: Stage): Promise<boolean> {
  try {
    const probes = Array.from({ length: 400 }, (_, each) => `probe-${each}`);
    await Promise.all(probes.map((id) => write(stage, id, {})));
    return true;
  } catch {
    return false;
  }
}

function request(id: string, labels: Record<string, string>) {
  const number = Number(id.split("-")[1]);
  return {
    id,
    source: WorkloadSource.KUBERNETES,
    namespace: "shop",
    labels: { app: "web", env: "prod", ...labels },
    addresses: [`10.${number >>> 16}.${(number >>> 8) & 255}.${number & 255}`],
    services: ["shop/web"],
  };
}

async function write(stage: Stage, id: string, labels: Record<string, string>): Promise<bigint> {
  const answer = await stage.calls.call(
    "workload",
    "report",
    ReportWorkloadRequestSchema,
    ReportWorkloadResponseSchema,
    request(id, labels),
    { partition: partitionOf(id), timeoutMs: 10_000 },
  );
  if (answer.error !== undefined) {
    throw new Error(answer.error.message);
  }
  return answer.revision;
}

/** Calls `work` for 0 … count − 1, some at a time; returns the milliseconds it took. */
async function inParallel(count: number, work: (index: number) => Promise<unknown>) {
  const start = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return performance.now() - start;
}

function workload(index: number): { id: string; labels: Record<string, string> } {
  return { id: `w-${index}`, labels: { group: `g${index % WATCHERS}` } };
}

async function registration(stage: Stage): Promise<void> {
  const { bus } = stage;
  await bus.jsm.streams.add({
    name: "bench-plain",
    subjects: ["bench.plain.>"],
    max_msgs_per_subject: 1,
  });
  const payload = toBinary(
    ReportWorkloadRequestSchema,
    create(ReportWorkloadRequestSchema, request("w-0", { group: "g0" })),
  );
  const sample = Math.min(WORKLOADS, 20_000);
  const plainMs = await inParallel(sample, (each) =>
    bus.nc.request(`bench.plain.${each}`, payload, { timeout: 10_000 }),
  );
  await bus.jsm.streams.delete("bench-plain");
  const tookMs = await inParallel(WORKLOADS, (each) => {
    const { id, labels } = workload(each);
    return write(stage, id, labels);
  });
  const perSecond = (WORKLOADS / tookMs) * 1000;
  const plainPerSecond = (sample / plainMs) * 1000;
  report({
    bench: "registrar",
    case: "register",
    workloads: WORKLOADS,
    seconds: round(tookMs / 1000),
    per_second: round(perSecond),
    baseline_per_second: round(plainPerSecond),
    ratio: round(perSecond / plainPerSecond),
    rss_mb: rssMb(stage.registrar),
  });
}

async function listing(stage: Stage): Promise<void> {
  const page = async (after: string, limit: number) =>
    stage.calls.call(
      "workload",
      "list",
      ListWorkloadsRequestSchema,
      ListWorkloadsResponseSchema,
      { after, limit },
      { timeoutMs: 10_000 },
    );
  const pages: number[] = [];
  let after = "";
  let count = 0;
  const start = performance.now();
  for (;;) {
    const asked = performance.now();
    const answer = await page(after, 5_000);
    pages.push(performance.now() - asked);
    count += answer.workloads.length;
    after = answer.workloads.at(-1)?.id ?? "";
    if (!answer.more) {
      break;
    }
  }
  const { p50, p99 } = percentiles(pages);
  report({
    bench: "registrar",
    case: "list",
    workloads: count,
    ms: round(performance.now() - start),
    pages: pages.length,
    page_p50_ms: round(p50),
    page_p99_ms: round(p99),
  });
}

/** One watcher of a group of workloads. */
class Watcher {
  readonly abort = new AbortController();
  readonly seen = new Map<string, string>();
  complete = false;
  bytes = 0;
  revision = 0n;
  onUpsert: (id: string, marker: string) => void = () => undefined;

  constructor(bus: Bus, selector: string, resume = 0n) {
    this.#read(bus, selector, resume).catch((error: unknown) => {
      if (!this.abort.signal.aborted && !bus.nc.isClosed()) {
        throw error;
      }
    });
  }

  async #read(bus: Bus, selector: string, resume: bigint): Promise<void> {
    const frames = watch(bus, {
      noun: "workload",
      verb: "watch",
      requestSchema: WatchWorkloadsRequestSchema,
      request: (inbox, revision) => ({
        inbox,
        resumeRevision: revision === 0n ? resume : revision,
        filter: { selector },
      }),
      signal: this.abort.signal,
    });
    for await (const frame of frames) {
      this.#take(frame);
    }
  }

  #take(frame: WatchFrame): void {
    this.bytes += toBinary(WatchFrameSchema, frame).length;
    this.revision = frame.revision;
    if (frame.body.case === "endOfSnapshot") {
      this.complete = true;
    } else if (frame.body.case === "workloads") {
      for (const record of frame.body.value.upserts) {
        const marker = record.labels.marker ?? "";
        this.seen.set(record.id, marker);
        this.onUpsert(record.id, marker);
      }
    }
  }
}

async function churn(stage: Stage): Promise<void> {
  const start = performance.now();
  const watchers: Watcher[] = [];
  for (let group = 0; group < WATCHERS; group += 1) {
    watchers.push(new Watcher(stage.bus, `group=g${group}`));
    if (group % 50 === 49) {
      await eventually(
        "snapshots",
        () => watchers.every((each) => each.complete),
        Boolean,
        120_000,
      );
    }
  }
  await eventually("snapshots", () => watchers.every((each) => each.complete), Boolean, 120_000);
  const snapshotBytes = watchers.reduce((sum, { bytes }) => sum + bytes, 0);
  report({
    bench: "registrar",
    case: "open-watches",
    watchers: WATCHERS,
    seconds: round((performance.now() - start) / 1000),
    bytes: snapshotBytes,
    rss_mb: rssMb(stage.registrar),
  });
  await writesToWatchers(stage, watchers);
  await resumes(stage, watchers, snapshotBytes);
  for (const { abort } of watchers) {
    abort.abort();
  }
}

async function writesToWatchers(stage: Stage, watchers: readonly Watcher[]): Promise<void> {
  const before = watchers.reduce((sum, { bytes }) => sum + bytes, 0);
  const times: number[] = [];
  const open = new Set<string>();
  const writes: Promise<unknown>[] = [];
  const count = CHURN_PER_SECOND * CHURN_SECONDS;
  for (let change = 0; change < count; change += 1) {
    const { id, labels } = workload((change * 7_919) % WORKLOADS);
    const marker = String(change);
    const startMs = performance.now();
    const watcher = watchers[Number(labels.group?.slice(1))];
    open.add(marker);
    if (watcher !== undefined) {
      const former = watcher.onUpsert;
      watcher.onUpsert = (seen, seenMarker) => {
        former(seen, seenMarker);
        if (seenMarker === marker && open.delete(marker)) {
          times.push(performance.now() - startMs);
        }
      };
    }
    writes.push(write(stage, id, { ...labels, marker }));
    await new Promise((resolve) => setTimeout(resolve, 1000 / CHURN_PER_SECOND));
  }
  await Promise.all(writes);
  await eventually("every change is seen", () => open.size === 0, Boolean, 30_000);
  const { p50, p99 } = percentiles(times);
  report({
    bench: "registrar",
    case: "write-to-watcher",
    workloads: WORKLOADS,
    watchers: WATCHERS,
    changes_per_second: CHURN_PER_SECOND,
    changes: times.length,
    p50_ms: round(p50),
    p99_ms: round(p99),
    bytes: watchers.reduce((sum, { bytes }) => sum + bytes, 0) - before,
    rss_mb: rssMb(stage.registrar),
  });
}

/** All watchers break off, a hundredth of the workloads changes, all resume. */
async function resumes(
  stage: Stage,
  watchers: readonly Watcher[],
  snapshotBytes: number,
): Promise<void> {
  for (const { abort } of watchers) {
    abort.abort();
  }
  const changes = Math.max(1, Math.round(WORKLOADS / 100));
  let last = 0n;
  await inParallel(changes, async (each) => {
    const { id, labels } = workload(each);
    const revision = await write(stage, id, { ...labels, marker: "resumed" });
    last = revision > last ? revision : last;
  });
  const start = performance.now();
  const resumed = watchers.map(
    ({ revision }, group) => new Watcher(stage.bus, `group=g${group}`, revision),
  );
  const caughtUp = () => resumed.reduce((sum, { seen }) => sum + seen.size, 0);
  await eventually("the changes", caughtUp, (seen) => seen >= changes, 60_000);
  const bytes = resumed.reduce((sum, each) => sum + each.bytes, 0);
  report({
    bench: "registrar",
    case: "resume",
    watchers: WATCHERS,
    changes,
    seconds: round((performance.now() - start) / 1000),
    bytes,
    snapshot_bytes: snapshotBytes,
    ratio: round(snapshotBytes / bytes),
  });
  for (const { abort } of resumed) {
    abort.abort();
  }
}

/** Resident memory of the registrar's process in MB; 0 where /proc is not there. */
function rssMb({ pid }: ChildProcess): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
