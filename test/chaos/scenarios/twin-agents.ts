import { eventually } from "@ringwall/testkit";
import { Fleet } from "../lab/fleet.ts";
import type { Scenario } from "../scenario.ts";

/** Sessions that two agents may take from one another in ten seconds: the loser backs off. */
const SESSIONS_LIMIT = 40;

/** Two hosts believe that they are the same workload. */
export const twinAgents: Scenario = {
  name: "twin-agents",
  fault: "two agents with one id: the newest session wins, nobody else notices",
  async run(trial) {
    const { server, estate, witness, fleet, plane } = trial.parts;
    const [id = ""] = estate.agents;
    const before = await opened(plane);
    const twin = await Fleet.start({
      ...{ url: server.url, connections: 1, workloads: [id], witness, place: "twin" },
    });
    try {
      await trial.load(trial.ms({ ci: 5000, full: 20_000 }));
      await trial.parts.writer.stop();
      const sessions = (await opened(plane)) - before;
      if (sessions > SESSIONS_LIMIT) throw new Error(`${sessions} sessions were opened`);
      await fleet.host.remove(id);
      const sinceMs = performance.now();
      const digest = estate.expected().get(id);
      await eventually(
        "the twin that is left is at head",
        () => witness.current(id, "twin")?.digest === digest,
        Boolean,
        60_000,
      );
      const toHeadMs = performance.now() - sinceMs;
      return { toHeadMs, note: `${sessions} sessions opened while there were two` };
    } finally {
      await twin.stop();
      await fleet.add(id);
      await trial.atHead();
    }
  },
};

async function opened(plane: { instances(name: "agent-gateway"): readonly Metered[] }) {
  const counts = await Promise.all(
    plane
      .instances("agent-gateway")
      .map((gateway) => gateway.metric("ringwall_sessions_opened_total")),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

interface Metered {
  metric(name: string): Promise<number>;
}
