import type { ServiceName } from "../lab/control-plane.ts";
import type { Scenario } from "../scenario.ts";

/** kill -9 of one of two instances; the other takes over, and the killed one comes back later. */
export function killService(service: ServiceName): Scenario {
  return {
    name: `kill-${service}`,
    fault: `kill -9 of one of two instances of ${service}`,
    async run(trial) {
      const process = trial.parts.plane.process(`${service}-1`);
      await trial.load(1000);
      const sinceMs = performance.now();
      await process.kill();
      await trial.pass(500);
      const toHeadMs = await trial.settle(sinceMs);
      process.start();
      await trial.parts.plane.ready();
      await trial.settle(performance.now());
      return { toHeadMs };
    },
  };
}

/** kill -9 of both instances at once; both come back. */
export function killBoth(service: ServiceName): Scenario {
  return {
    name: `kill-all-${service}`,
    fault: `kill -9 of both instances of ${service} at once, started again`,
    fullOnly: service !== "agent-gateway",
    async run(trial) {
      const processes = trial.parts.plane.instances(service);
      await trial.load(1000);
      await Promise.all(processes.map((process) => process.kill()));
      const sinceMs = performance.now();
      for (const process of processes) process.start();
      return { toHeadMs: await trial.settle(sinceMs) };
    },
  };
}
