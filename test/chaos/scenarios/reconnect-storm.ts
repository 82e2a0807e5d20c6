import type { Scenario } from "../scenario.ts";

const AGENTS = 2000;

/** Every connection of every agent ends, and all come back at the same moment. */
export const reconnectStorm: Scenario = {
  name: "reconnect-storm",
  fault: "2,000 agents lose their connections and come back at once",
  ground: "proxied-agents",
  agents: () => AGENTS,
  async run(trial) {
    const { proxy, writer } = trial.parts;
    if (proxy === undefined) throw new Error("the ground has no proxy");
    proxy.cut();
    await writer.change(4);
    await trial.pass(1000);
    proxy.mend();
    const sinceMs = performance.now();
    await trial.atHead();
    return { toHeadMs: performance.now() - sinceMs, note: "4 changes while they were away" };
  },
};
