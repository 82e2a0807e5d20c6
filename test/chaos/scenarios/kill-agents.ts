import type { Scenario } from "../scenario.ts";

/** Agents die in the middle of it, and start with what is on their disks. */
export const killAgents: Scenario = {
  name: "kill-agent",
  fault: "kill -9 of a process of agents with policies on disk, started again",
  async run(trial) {
    const { agents } = trial.parts;
    await trial.load(1000);
    await agents.process.kill();
    const kept = await Promise.all(agents.workloads.map((workload) => agents.current(workload)));
    if (kept.includes(undefined)) throw new Error("an agent lost its policy");
    await trial.pass(1000);
    agents.process.start();
    const sinceMs = performance.now();
    return { toHeadMs: await trial.settle(sinceMs) };
  },
};

/** Agents stand still for longer than their sessions live, and wake. */
export const freezeAgents: Scenario = {
  name: "freeze-agent",
  fault: "SIGSTOP of a process of agents, which wakes later",
  async run(trial) {
    const { agents } = trial.parts;
    await trial.load(1000);
    agents.process.freeze();
    await trial.pass(trial.ms({ ci: 4000, full: 45_000 }));
    agents.process.thaw();
    const sinceMs = performance.now();
    return { toHeadMs: await trial.settle(sinceMs) };
  },
};
