/**
 * What the services need for estates of several sizes: memory of each process once everything is
 * registered and rendered, and what the store holds. docs/sizing.md quotes a run.
 */
import { readFileSync } from "node:fs";
import { connectBus } from "@ringwall/bus";
import { startNats } from "@ringwall/testkit";
import { ControlPlane, SERVICES } from "../chaos/lab/control-plane.ts";
import { reported, tree } from "./fanout/estate.ts";
import { Fleet } from "./fanout/fleet.ts";
import { report, reportMachine } from "./harness.ts";
import { cpuMs } from "./telemetry/cpu-time.ts";

const SIZES = (process.env.RINGWALL_BENCH_SIZES ?? "100,1000,10000").split(",").map(Number);
const IDLE_MS = 10_000;

/** Runs each size on a server of its own. */
export async function bench(): Promise<void> {
  process.setMaxListeners(0);
  reportMachine("sizing");
  for (const agents of SIZES) await measure(agents);
}

async function measure(agents: number): Promise<void> {
  const nats = await startNats();
  const plane = await ControlPlane.start({ url: nats.url, instances: 1 });
  const bus = await connectBus({ url: nats.url, name: "sizing" });
  const fleet = new Fleet();
  try {
    await plane.operator.commit(tree(), "the tree");
    await plane.operator.reportAll(reported(agents));
    await plane.ready();
    const connections = Math.max(1, Math.ceil(agents / 40));
    await fleet.order({ kind: "start", url: nats.url, agents, connections });
    const { times } = await fleet.expect({ kind: "expect-acks", count: agents });
    await fleet.order({ kind: "open" });
    await times;
    const pids: [string, number][] = SERVICES.flatMap((service) => {
      const { pid } = plane.process(`${service}-1`);
      return pid === undefined ? [] : [[service, pid] satisfies [string, number]];
    });
    if (nats.pid !== undefined) pids.push(["nats-server", nats.pid]);
    const before = pids.map(([, pid]) => cpuMs(pid));
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    for (const [index, [name, pid]] of pids.entries()) {
      report({
        ...{ bench: "sizing", case: name, agents },
        rssMiB: Math.round(statusKiB(pid, "VmRSS") / 1024),
        peakMiB: Math.round(statusKiB(pid, "VmHWM") / 1024),
        idleCpuPercent: percent((cpuMs(pid) - (before[index] ?? 0)) / IDLE_MS),
      });
    }
    let bytes = 0;
    for await (const { state } of bus.jsm.streams.list()) bytes += state.bytes;
    report({ bench: "sizing", case: "store", agents, MiB: Number((bytes / 2 ** 20).toFixed(1)) });
  } finally {
    fleet.stop();
    await bus.close();
    await plane.stop();
    await nats.stop();
  }
}

function statusKiB(pid: number, field: string): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? Number.NaN);
}

function percent(share: number): number {
  return Number((share * 100).toFixed(1));
}
