import type { ServiceName } from "../lab/control-plane.ts";
import type { Scenario } from "../scenario.ts";

/** An instance that wakes within its lease, and one that wakes when others own what it owned. */
export function freezeService(service: ServiceName): Scenario {
  return {
    name: `freeze-${service}`,
    fault: `SIGSTOP of one of two instances of ${service}, which wakes later and goes on`,
    async run(trial) {
      const process = trial.parts.plane.process(`${service}-2`);
      await trial.load(1000);
      const sinceMs = performance.now();
      process.freeze();
      await trial.pass(500);
      const toHeadMs = await trial.settle(sinceMs);
      await trial.load(500);
      process.thaw();
      await trial.pass(trial.ms({ ci: 1500, full: 5000 }));
      await trial.settle(performance.now());
      return { toHeadMs };
    },
  };
}
