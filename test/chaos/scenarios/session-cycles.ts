import { type Cycler, startCycler } from "../lab/cycler.ts";
import type { Scenario } from "../scenario.ts";
import type { Trial } from "../trial.ts";

/** Rounds after each of which the heaps are looked at. */
const ROUNDS = 3;
/** Cycles of a round. */
const CYCLES = { ci: 600, full: 3400 } as const;
/** Cycles before the first look, so that caches and tables have the size that they need. */
const WARM_UP = { ci: 500, full: 2000 } as const;
const HEARTBEAT_MS = 2000;
/**
 * Growth for each cycle that is taken for none. A session that stays takes about 1 KiB in every round;
 * what grows to its size, or is not collected yet, does not grow in every one.
 */
const BYTES_PER_CYCLE = 768;
const LOOKS = 3;
const BETWEEN_LOOKS_MS = 500;
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
      const looks = [await look(trial, cycler)];
      for (let round = 0; round < ROUNDS; round += 1) {
        await cycler.run(CYCLES[size]);
        looks.push(await look(trial, cycler));
      }
      const note = [
        `${ROUNDS * CYCLES[size]} cycles, ${cycler.refusals} refusals`,
        `heap ${looks.map(({ heap }) => kib(heap)).join(" -> ")} KiB`,
        `subscriptions ${looks.map(({ subscriptions }) => subscriptions).join(" -> ")}`,
        `consumers ${looks.map(({ consumers }) => consumers).join(" -> ")}`,
      ].join(", ");
      if (!isFlat(looks, CYCLES[size])) throw new Error(note);
      return { toHeadMs: await trial.settle(performance.now()), note };
    } finally {
      await cycler.stop();
    }
  },
};

/** True if nothing has grown by what the cycles left behind. */
function isFlat(looks: readonly Look[], cycles: number): boolean {
  const growths = looks.slice(1).map((look, index) => look.heap - (looks[index]?.heap ?? 0));
  const [first, last] = [looks[0], looks.at(-1)];
  if (first === undefined || last === undefined) return false;
  return (
    Math.min(...growths) < cycles * BYTES_PER_CYCLE &&
    last.subscriptions <= first.subscriptions + PASSING &&
    last.consumers <= first.consumers + PASSING
  );
}

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
