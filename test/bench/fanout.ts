/**
 * Ten thousand agents with real sessions over a few hundred connections, and all services, on this
 * machine: how long a commit takes until every agent that it concerns has acknowledged, how long all
 * take to come back at once, and what an idle session costs a gateway. In the same run the bare cost
 * of as many core messages and answers through the same server.
 *
 * RINGWALL_BENCH_AGENTS and RINGWALL_BENCH_ROUNDS make it smaller; RINGWALL_BENCH_PROFILE names a
 * directory for CPU profiles of the services while changes go out.
 */
import { writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { api, type Bus, connectBus } from "@ringwall/bus";
import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import { ConvergenceRequestSchema, ConvergenceResponseSchema } from "@ringwall/wire";
import { ControlPlane, SERVICES } from "../chaos/lab/control-plane.ts";
import { type CpuUse, cpuBetween, cpuMs } from "./fanout/cpu.ts";
import { group, reported, tree } from "./fanout/estate.ts";
import { Fleet } from "./fanout/fleet.ts";
import { plainRound } from "./fanout/plain.ts";
import { unixMs } from "./fanout/protocol.ts";
import { middle, type Spread, spreadSince } from "./fanout/spread.ts";
import { report, reportMachine } from "./harness.ts";

const AGENTS = Number(process.env.RINGWALL_BENCH_AGENTS ?? 10_000);
const ROUNDS = Number(process.env.RINGWALL_BENCH_ROUNDS ?? 7);
const PROFILES = process.env.RINGWALL_BENCH_PROFILE;
const CONNECTIONS = Math.max(1, Math.min(200, Math.ceil(AGENTS / 50)));
/** Bytes of a Down with a delta of one peer, and of its acknowledgement. */
const DOWN_BYTES = 260;
const ACK_BYTES = 70;
const POLL_MS = 100;
const DEADLINE_MS = 120_000;

interface Stage {
  readonly server: NatsServer;
  readonly plane: ControlPlane;
  readonly fleet: Fleet;
  readonly bus: Bus;
}

/** Runs the benchmark and prints a line for each figure. */
export async function bench(): Promise<void> {
  process.setMaxListeners(0);
  reportMachine("fanout");
  const server = await startNats();
  const plane = await ControlPlane.start({ url: server.url, instances: 1 });
  const bus = await connectBus({ url: server.url, name: "bench" });
  const stage = { server, plane, bus, fleet: new Fleet() };
  try {
    await prepare(stage);
    await sessions(stage);
    await changes(stage);
    await storms(stage);
  } finally {
    stage.fleet.stop();
    await bus.close();
    await plane.stop();
    await server.stop();
  }
}

async function prepare({ plane, fleet, server }: Stage): Promise<void> {
  await plane.operator.commit(tree(), "the tree");
  await plane.operator.reportAll(reported(AGENTS));
  await plane.ready();
  const order = { url: server.url, agents: AGENTS, connections: CONNECTIONS };
  await fleet.order({ kind: "start", ...order });
}

/** What a gateway holds for a session that has nothing to do. */
async function sessions(stage: Stage): Promise<void> {
  const { plane, fleet } = stage;
  const gateway = plane.process("agent-gateway-1");
  const before = await gateway.memory();
  const { times } = await fleet.expect({ kind: "expect-acks", count: AGENTS });
  const sinceMs = unixMs();
  await fleet.order({ kind: "open" });
  const first = spreadSince(sinceMs, await times);
  await allSynced(stage);
  print("first policies", first);
  const after = await gateway.memory();
  const grown = after.heapUsed + after.external - before.heapUsed - before.external;
  report({
    ...{ bench: "fanout", case: "idle session", unit: "KiB", sessions: AGENTS },
    value: round(grown / AGENTS / 1024),
    rss: round((after.rss - before.rss) / AGENTS / 1024),
    must: 10,
    goal: 4,
  });
}

/** Commits that concern everybody, and one agent, in turn with as many plain messages. */
async function changes(stage: Stage): Promise<void> {
  const { fleet, bus } = stage;
  await fleet.order({ kind: "plain", answerBytes: ACK_BYTES });
  const used: CpuUse[] = [];
  const all: Spread[] = [];
  const one: Spread[] = [];
  const plain: Spread[] = [];
  if (PROFILES !== undefined) await profile(stage, "start");
  for (let index = 1; index <= ROUNDS; index += 1) {
    plain.push(await plainRound(bus, AGENTS, DOWN_BYTES));
    all.push(await change(stage, "everywhere", index, AGENTS, used));
    one.push(await change(stage, "alone", index, 1));
  }
  if (PROFILES !== undefined) await profile(stage, "stop");
  const bare = middle(plain);
  print("plain messages and answers", bare);
  print("one change, all affected", middle(all), { must: 1000, goal: 300 }, bare);
  print("one change, one affected", middle(one));
  const names = Object.keys(used[0] ?? {});
  const mean = (name: string) =>
    Math.round(used.reduce((sum, use) => sum + (use[name] ?? 0), 0) / used.length);
  report({
    ...{ bench: "fanout", case: "cpu of one change, all affected", unit: "ms" },
    ...Object.fromEntries(names.map((name) => [name, mean(name)])),
  });
}

async function change(
  stage: Stage,
  name: "everywhere" | "alone",
  index: number,
  affected: number,
  used?: CpuUse[],
): Promise<Spread> {
  const { fleet, plane } = stage;
  const before = await cpuMs(pids(stage));
  const { times } = await fleet.expect({ kind: "expect-acks", count: affected });
  const sinceMs = unixMs();
  await plane.operator.commit([group(name, index)], `${name} ${index}`);
  const spread = spreadSince(sinceMs, await times);
  used?.push(cpuBetween(before, await cpuMs(pids(stage))));
  await allSynced(stage);
  return spread;
}

/** All agents lose their connections at once; then the server itself is killed and comes back. */
async function storms(stage: Stage): Promise<void> {
  const { fleet, server } = stage;
  const limits = { must: 5000, goal: 2000 };
  for (const way of ["agents reconnect", "server restarts"] as const) {
    const { times } = await fleet.expect({ kind: "expect-sessions" });
    if (way === "server restarts") await server.kill();
    if (way === "server restarts") await server.restart();
    const sinceMs = unixMs();
    if (way === "agents reconnect") await fleet.order({ kind: "reconnect" });
    const spread = spreadSince(sinceMs, await times);
    await allSynced(stage);
    print(way, { ...spread, max: unixMs() - sinceMs }, limits);
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));

/** Waits until the gateway says that everybody has acknowledged the head. */
async function allSynced({ plane, bus }: Stage): Promise<void> {
  const head = (await plane.operator.head())?.inputs?.configSequence ?? 0n;
  // The question costs the gateway a look at every session: it is not asked all the time.
  const ask = () =>
    api(bus).call("status", "convergence", ConvergenceRequestSchema, ConvergenceResponseSchema, {
      configSequence: head,
    });
  await eventually(
    "everybody has acknowledged the head",
    () =>
      pause()
        .then(ask)
        .catch(() => undefined),
    (answer) => answer?.converged === true && answer.agents === AGENTS,
    DEADLINE_MS,
  );
}

/** The processes that take part, by name. */
function pids({ plane, server, fleet }: Stage): ReadonlyMap<string, number | undefined> {
  const services = SERVICES.map((name) => [name, plane.process(`${name}-1`).pid] as const);
  return new Map([...services, ["nats-server", server.pid], ["agents", fleet.pid]]);
}

async function profile({ plane, fleet }: Stage, what: "start" | "stop"): Promise<void> {
  const agents = await fleet.profile(what);
  if (what === "stop") await writeFile(join(PROFILES ?? "", "agents.cpuprofile"), agents);
  for (const service of SERVICES) {
    const text = await plane.process(`${service}-1`).profile(what);
    if (what === "stop") await writeFile(join(PROFILES ?? "", `${service}.cpuprofile`), text);
  }
}

function print(
  name: string,
  { min, p50, p99, max }: Spread,
  limits: Readonly<Record<string, number>> = {},
  bare?: Spread,
): void {
  report({
    ...{ bench: "fanout", case: name, unit: "ms", agents: AGENTS },
    ...{ min: round(min), p50: round(p50), p99: round(p99), max: round(max) },
    ...(bare === undefined ? {} : { baseline: round(bare.max), ratio: round(max / bare.max) }),
    ...limits,
    load: round(loadavg()[0] ?? 0),
  });
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
