import type { Scenario } from "../scenario.ts";

/** Nothing can be stored for a while. */
export const fullDisk: Scenario = {
  name: "full-disk",
  fault: "no room left on the disk of the store; then there is room again and the server restarts",
  ground: "small-disk",
  async run(trial) {
    const { disk, server, plane, estate } = trial.parts;
    if (disk === undefined) throw new Error("the ground has no disk");
    await trial.load(1000);
    await disk.fill();
    const before = estate.changes;
    await trial.pass(trial.ms({ ci: 6000, full: 30_000 }));
    const begun = estate.changes - before;
    await disk.empty();
    const sinceMs = performance.now();
    await server.kill();
    await server.restart();
    await plane.ready();
    return { toHeadMs: await trial.settle(sinceMs), note: `${begun} changes begun while full` };
  },
};
