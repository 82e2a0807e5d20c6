import type { NatsServer } from "@ringwall/testkit";
import { allCurrent, changeLeaders, leaderOf } from "../lab/nats-cluster.ts";
import type { Scenario } from "../scenario.ts";
import type { Trial } from "../trial.ts";

/** Three servers, three replicas of everything: leaders change, nodes die and are replaced. */
export const cluster: Scenario = {
  name: "cluster",
  fault: "three servers: leaders change, one is killed and replaced by an empty one, then another",
  ground: "cluster",
  async run(trial) {
    const { plane, log } = trial.parts;
    await allCurrent(plane.bus);
    await trial.load(1000);
    const changed = await changeLeaders(plane.bus);
    await trial.settle(performance.now());
    const toHeadMs = await replace(trial, await leader(trial));
    await log.read(plane.bus);
    // What the replaced one holds is needed now: without it there is no majority.
    await replace(trial, await leader(trial));
    return { toHeadMs, note: `${changed} leaders changed, 2 nodes replaced` };
  },
};

/** Kills a node, shows that the others go on, and puts an empty one in its place. */
async function replace(trial: Trial, node: NatsServer): Promise<number> {
  await trial.load(500);
  const sinceMs = performance.now();
  await node.kill();
  await trial.pass(500);
  const toHeadMs = await trial.settle(sinceMs);
  await node.wipe();
  await trial.load(0);
  await node.restart();
  await allCurrent(trial.parts.plane.bus);
  await trial.settle(performance.now());
  return toHeadMs;
}

async function leader(trial: Trial): Promise<NatsServer> {
  const { plane, cluster } = trial.parts;
  const { bus } = plane;
  if (cluster === undefined) throw new Error("the ground has no cluster");
  return cluster.named(await leaderOf(bus, bus.names.stream("VERSIONS")));
}
