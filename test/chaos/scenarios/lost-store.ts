import { eventually } from "@ringwall/testkit";
import { AgentState } from "@ringwall/wire";
import type { Scenario } from "../scenario.ts";
import type { Trial } from "../trial.ts";

/** Two keepers and two gateways. */
const HELD = 4;
const HELD_DEADLINE_MS = 60_000;

/** The server comes back with an empty store. */
export const wipedStore: Scenario = {
  name: "wiped-store",
  fault: "server restarted with its store wiped: held, no host opens; then accepted and applied",
  async run(trial) {
    const { server, plane, estate, writer, log } = trial.parts;
    await trial.load(1000);
    await writer.stop();
    await trial.atHead();
    await log.read(plane.bus);
    await server.kill();
    await server.wipe();
    await server.restart();
    log.replaced();
    await held(trial);
    await plane.operator.reportAll(estate.reported());
    await trial.nothingInstalled(trial.ms({ ci: 3000, full: 15_000 }));
    const sinceMs = performance.now();
    await plane.operator.accept(0);
    await plane.operator.commit(estate.documents(), `again after ${estate.changes}`);
    await plane.ready();
    return { toHeadMs: await trial.settle(sinceMs), note: "from accept-state on" };
  },
};

/** The server comes back with the store of an earlier hour. */
export const olderStore: Scenario = {
  name: "older-store",
  fault: "server restarted with an older copy of its store: held, no host opens; then accepted",
  async run(trial) {
    const { server, plane, estate, writer, log } = trial.parts;
    await trial.load(1000);
    await writer.stop();
    await trial.atHead();
    const commits = await plane.operator.commits();
    await server.kill();
    const copy = await server.backup();
    await server.restart();
    await trial.load(2000);
    await writer.stop();
    await trial.atHead();
    await log.read(plane.bus);
    await server.kill();
    await server.restore(copy);
    await server.restart();
    log.replaced();
    await held(trial);
    await trial.nothingInstalled(trial.ms({ ci: 3000, full: 15_000 }));
    const sinceMs = performance.now();
    await plane.operator.accept(commits);
    await plane.operator.commit(estate.documents(), `again after ${estate.changes}`);
    await plane.operator.reportAll(estate.reported());
    await plane.ready();
    return { toHeadMs: await trial.settle(sinceMs), note: "from accept-state on" };
  },
};

/** Waits until nothing is served any more and every agent says why. */
async function held(trial: Trial): Promise<void> {
  const { plane } = trial.parts;
  await eventually(
    "keepers and gateways are held",
    async () => (await plane.problems()).filter((problem) => /keeper|gateway/.test(problem)),
    (problems) => problems.length === HELD && !problems.some((problem) => /answer/.test(problem)),
    HELD_DEADLINE_MS,
  );
  await trial.states([AgentState.HELD]);
}
