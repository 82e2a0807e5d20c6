/**
 * One commit that changes the bodies of ten thousand workloads, from the request until a VersionBatch
 * of every partition is stored, on a real nats-server with one renderer and one version-keeper as
 * processes of their own. Each case has other sizes, so that the lines show what messages grow with:
 * with the classes of workloads, not with the workloads in a class. The baseline is a message for each
 * workload.
 */
import { connectBus } from "@ringwall/bus";
import { startNats } from "@ringwall/testkit";
import { report, reportMachine } from "./harness.ts";
import { ControlPlane } from "./pipeline/control-plane.ts";
import { watchVersions } from "./pipeline/version-watch.ts";

const CASES = [
  { workloads: 1_000, classes: 1 },
  { workloads: 10_000, classes: 1 },
  { workloads: 10_000, classes: 100 },
] as const;
const ROUNDS = 5;

/** Runs every case on a server of its own. */
export async function bench(): Promise<void> {
  reportMachine("pipeline");
  for (const sizes of CASES) {
    await measureCase(sizes);
  }
}

async function measureCase(sizes: (typeof CASES)[number]): Promise<void> {
  const nats = await startNats();
  const bus = await connectBus({ url: nats.url, name: "pipeline" });
  const plane = new ControlPlane(bus, nats.url, sizes);
  try {
    await plane.start();
    const versions = watchVersions(bus);
    await versions.reached(await plane.commit(1));
    const times: number[] = [];
    let stored = { messages: 0, bytes: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const before = await plane.stored();
      const start = performance.now();
      const advanced = await versions.reached(await plane.commit(2 + round));
      times.push(performance.now() - start);
      if (advanced !== sizes.workloads) {
        throw new Error(`${advanced} workloads advanced, not ${sizes.workloads}`);
      }
      const after = await plane.stored();
      stored = {
        messages: after.messages - before.messages,
        bytes: after.bytes - before.bytes,
      };
    }
    report({
      bench: "pipeline",
      case: `commit affecting ${sizes.workloads} workloads in ${sizes.classes} classes`,
      unit: "ms",
      time: Math.round(Math.min(...times)),
      worst: Math.round(Math.max(...times)),
      rounds: ROUNDS,
      messages: stored.messages,
      bytes: stored.bytes,
      baseline: sizes.workloads,
    });
  } finally {
    await plane.stop();
    await bus.close();
    await nats.stop();
  }
}
