import { FaultyProxy } from "../lab/faulty-proxy.ts";
import { Fleet } from "../lab/fleet.ts";
import type { Scenario } from "../scenario.ts";

/** Pushes in flight at most, and a few that end the wait. */
const INSTALLS_LIMIT = 12;

/** An agent whose connection stands still. */
export const slowAgent: Scenario = {
  name: "slow-agent",
  fault: "one agent reads nothing for a minute; it gets few steps then, never a long queue",
  async run(trial) {
    const { server, estate, witness, fleet, writer } = trial.parts;
    const [slow = ""] = estate.agents;
    await fleet.host.remove(slow);
    const proxy = await FaultyProxy.start(server.port);
    const alone = await Fleet.start({
      ...{ url: proxy.url, connections: 1, workloads: [slow], witness, place: "slow" },
    });
    try {
      await trial.load(1000);
      proxy.pause();
      const before = installs(witness, slow);
      await trial.pass(trial.ms({ ci: 12_000, full: 60_000 }));
      await writer.stop();
      const changes = writer.acknowledged;
      proxy.resume();
      const sinceMs = performance.now();
      const digest = estate.expected().get(slow);
      while (witness.current(slow, "slow")?.digest !== digest) {
        if (performance.now() - sinceMs > 60_000) throw new Error(`${slow} never got on`);
        await trial.pass(20);
      }
      const toHeadMs = performance.now() - sinceMs;
      const steps = installs(witness, slow) - before;
      if (steps > INSTALLS_LIMIT) throw new Error(`${slow} was sent ${steps} steps`);
      return { toHeadMs, note: `${changes} changes in all, ${steps} steps for the slow one` };
    } finally {
      await alone.stop();
      await proxy.close();
      await fleet.add(slow);
      await trial.atHead();
    }
  },
};

function installs(witness: { taken: readonly { workload: string }[] }, workload: string): number {
  return witness.taken.filter((taken) => taken.workload === workload).length;
}
