import { type Cycler, startCycler } from "../lab/cycler.ts";
import type { Scenario } from "../scenario.ts";
import type { Trial } from "../trial.ts";

const CYCLES = { ci: 1000, full: 10_000 } as const;
/** Cycles before the first look, so that caches and tables have the size that they need. */
const WARM_UP = { ci: 500, full: 2000 } as const;
const HEARTBEAT_MS = 2000;
/**
 * Growth of the heaps that is taken for noise, and for the bodies that a hundred cycles need each. A
 * session that stays takes more than 1 KiB.
 */
const NOISE_BYTES = 1.5 * 1024 * 1024;
const LOOKS = 3;
const BETWEEN_LOOKS_MS = 500;
const BYTES_PER_CYCLE = 256;
/** Subscriptions and consumers that come and go by themselves; one left by every cycle is a thousand. */
const PASSING = 8;

interface Look {
  readonly heap: number;
  readonly subscriptions: number;
  readonly consumers: number;
}

/** Agents come, are refused or refuse, and go without a word, over and over. */
export const sessionCycles: Scenario = {
  name: "session-cycles",
  fault: "connect, refuse, disconnect: heap, subscriptions and consumers stay as they are",
  ground: "fresh",
  args: { "agent-gateway": ["--heartbeat-ms", String(HEARTBEAT_MS)] },
  async run(trial) {
    const { size, server, plane } = trial.parts;
    const cycler = await startCycler(server.url, plane.operator);
    try {
      await cycler.run(WARM_UP[size]);
      const before = await look(trial, cycler);
      await cycler.run(CYCLES[size]);
      const after = await look(trial, cycler);
      const note = [
        `${CYCLES[size]} cycles, ${cycler.refusals} refusals`,
        `heap ${kib(before.heap)} -> ${kib(after.heap)} KiB`,
        `subscriptions ${before.subscriptions} -> ${after.subscriptions}`,
        `consumers ${before.consumers} -> ${after.consumers}`,
      ].join(", ");
      const isFlat =
        after.heap - before.heap < NOISE_BYTES + CYCLES[size] * BYTES_PER_CYCLE &&
        after.subscriptions <= before.subscriptions + PASSING &&
        after.consumers <= before.consumers + PASSING;
      if (!isFlat) throw new Error(note);
      return { toHeadMs: await trial.settle(performance.now()), note };
    } finally {
      await cycler.stop();
    }
  },
};

/** Heap of both gateways, subscriptions and consumers at the server, once every cycle is over. */
async function look(trial: Trial, cycler: Cycler): Promise<Look> {
  const { plane, estate } = trial.parts;
  const gateways = plane.instances("agent-gateway");
  await cycler.forgotten(gateways, estate.agents.length);
  let heap = Number.POSITIVE_INFINITY;
  for (let index = 0; index < LOOKS; index += 1) {
    await trial.pass(BETWEEN_LOOKS_MS);
    const memories = await Promise.all(gateways.map((gateway) => gateway.memory()));
    // What is just being written or sent is gone in the least of them.
    heap = Math.min(
      heap,
      memories.reduce((sum, { heapUsed, external }) => sum + heapUsed + external, 0),
    );
  }
  let consumers = 0;
  for await (const { state } of plane.bus.jsm.streams.list()) consumers += state.consumer_count;
  return {
    heap,
    subscriptions: await trial.subscriptions(),
    consumers,
  };
}

function kib(bytes: number): number {
  return Math.round(bytes / 1024);
}
