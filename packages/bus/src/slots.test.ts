import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fromBinary } from "@bufbuild/protobuf";
import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import { WorkloadPolicySchema } from "@ringwall/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Bus, connectBus, LEASE_MS } from "./index.ts";

interface Writer {
  readonly child: ChildProcess;
  readonly name: string;
  owned: string[];
  readonly ended: Promise<number | null>;
}

let nats: NatsServer;
let bus: Bus;
let writers: Writer[] = [];

beforeEach(async () => {
  nats = await startNats();
  bus = await connectBus({ url: nats.url, name: "test" });
});
afterEach(async () => {
  for (const { child } of writers) {
    child.kill("SIGCONT");
    child.kill("SIGKILL");
  }
  await Promise.all(writers.map(({ ended }) => ended));
  writers = [];
  await bus.close();
  await nats.stop();
});

function startWriter(name: string): Writer {
  const script = join(import.meta.dirname, "testing", "slot-writer.ts");
  const child = spawn(process.execPath, [script, "--nats-url", nats.url, "--instance", name], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, RINGWALL_LOG_LEVEL: "warn" },
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const writer: Writer = { child, name, owned: [], ended };
  createInterface({ input: child.stdout }).on("line", (line) => {
    const said: unknown = JSON.parse(line);
    if (typeof said === "object" && said !== null && "owned" in said) {
      writer.owned = said.owned as string[]; // The writer's own word.
    }
  });
  writers.push(writer);
  return writer;
}

const owns = (writer: Writer, count: number) =>
  eventually(
    `${writer.name} owning ${count}`,
    () => writer.owned.length,
    (owned) => owned === count,
  );

/** Reads all counters of the log and checks that each follows the one before it. */
async function checkCounters(): Promise<Map<string, string[]>> {
  const counters = new Map<string, bigint>();
  const by = new Map<string, string[]>();
  const { state } = await bus.jsm.streams.info("rw-VERSIONS");
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await bus.jsm.streams.getMessage("rw-VERSIONS", { seq });
    if (message === null) {
      throw new Error(`message ${seq} is missing`);
    }
    const { version } = fromBinary(WorkloadPolicySchema, message.data);
    expect(version).toBe((counters.get(message.subject) ?? 0n) + 1n);
    counters.set(message.subject, version);
    by.set(message.subject, [...(by.get(message.subject) ?? []), message.header.get("By")]);
  }
  return by;
}

describe("slots", () => {
  it("all go to a single fresh instance", async () => {
    const one = startWriter("one");
    await owns(one, 8);
  });

  it("are shared in halves, taken over after a kill, and written by one at a time", async () => {
    const one = startWriter("one");
    await owns(one, 8);
    const two = startWriter("two");
    await Promise.all([owns(one, 4), owns(two, 4)]);
    expect([...one.owned, ...two.owned].sort()).toHaveLength(8);
    expect(new Set([...one.owned, ...two.owned]).size).toBe(8);
    one.child.kill("SIGKILL");
    const killedMs = performance.now();
    await owns(two, 8);
    expect(performance.now() - killedMs).toBeGreaterThan(LEASE_MS - 2500);
    await checkCounters();
  });

  it("are handed over when an instance is told to stop", async () => {
    const [one, two] = [startWriter("one"), startWriter("two")];
    await Promise.all([owns(one, 4), owns(two, 4)]);
    one.child.kill("SIGTERM");
    expect(await one.ended).toBe(0);
    await owns(two, 8);
    await checkCounters();
  });

  it("leave a frozen instance, whose waking harms nothing", async () => {
    const [one, two] = [startWriter("one"), startWriter("two")];
    await Promise.all([owns(one, 4), owns(two, 4)]);
    one.child.kill("SIGSTOP");
    await owns(two, 8);
    one.child.kill("SIGCONT");
    await owns(two, 4);
    await owns(one, 4);
    const by = await checkCounters();
    expect(by.size).toBe(8);
  });

  it("are found again when the server restarts with its leases gone", async () => {
    const [one, two] = [startWriter("one"), startWriter("two")];
    await Promise.all([owns(one, 4), owns(two, 4)]);
    await nats.kill();
    await eventually("both giving up", () => one.owned.length + two.owned.length === 0);
    await nats.restart();
    await bus.whenConnected(60_000);
    await Promise.all([owns(one, 4), owns(two, 4)]);
    expect(new Set([...one.owned, ...two.owned]).size).toBe(8);
    await checkCounters();
  });
});
