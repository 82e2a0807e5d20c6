import { fromBinary } from "@bufbuild/protobuf";
import { PARTITIONS } from "@ringwall/bus";
import { AgentState, StatusPageSchema } from "@ringwall/wire";
import { short } from "../check/hex.ts";
import { Violation } from "../check/violation.ts";
import type { Performer } from "./perform.ts";
import type { World } from "./world.ts";

/** Longest virtual time that a world without faults may take to agree. */
const LIMIT_MS = 300_000;
const LOOK_MS = 250;
const ACCEPT_MS = 15_000;

/**
 * Ends all faults, has the operators say once more what they want, and waits until every host has what a
 * full render of the final inputs gives. Throws a Violation of I4 if that does not come about.
 */
export function settle(world: World, performer: Performer): void {
  const { bus } = world;
  performer.stopFaults();
  for (const { operator } of world.operators) {
    operator.clear();
  }
  ask(world);
  const beganMs = bus.nowMs;
  let acceptMs = beganMs + ACCEPT_MS;
  let problem = "nothing was looked at";
  while (bus.nowMs - beganMs < LIMIT_MS) {
    bus.run(LOOK_MS);
    for (const actor of bus.actors.values()) {
      // One that was being stopped in order when faults ended comes back too.
      actor.start();
    }
    problem = unsettled(world);
    if (problem === "") {
      return;
    }
    if (world.mayBeHeld && bus.nowMs >= acceptMs) {
      acceptMs = bus.nowMs + ACCEPT_MS;
      world.wish(0, { kind: "accept", commits: () => world.checker.config.commits });
      ask(world);
    }
  }
  throw new Violation("I4", `${problem}; ${sayings(world)}`);
}

/** The operators and adapters say everything that they want, as a tree that is applied again does. */
function ask(world: World): void {
  world.wish(0, { kind: "files", files: [...world.tree.values()], whole: true });
  // By those who said it before: somebody else's word would be about another wish at the same time.
  for (const wish of [...world.declared.values()]) {
    world.declare(wish);
  }
}

/** What is not as it should be in the end; empty if nothing is. */
function unsettled(world: World): string {
  const { bus, checker } = world;
  for (const { operator, actor } of world.operators) {
    if (!operator.idle) {
      return `${actor.name} has no answer yet`;
    }
  }
  const tree = checker.config.tree(checker.config.head);
  const [registry] = checker.registry.statesAt(bus.stream("REGISTRY").lastSequence).toReversed();
  if (tree === undefined || registry === undefined) {
    return "CONFIG has no commit";
  }
  const bodies = checker.renders.bodies(tree, registry);
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const fold = checker.versions.partition(bus.names.version(partition));
    const reached = fold.inputs;
    const wanted = { generation: checker.config.generation, id: tree.id };
    if (reached === undefined || Buffer.from(reached.commitId).toString("hex") !== wanted.id) {
      return `partition ${partition} has not reached commit ${short(tree.id)}`;
    }
    if (reached.generation !== wanted.generation) {
      return `partition ${partition} has not reached generation ${wanted.generation}`;
    }
    const difference = checker.differenceFrom(fold, partition, bodies);
    if (difference !== "") {
      return difference;
    }
  }
  return unsettledHost(world, bodies);
}

function unsettledHost(world: World, bodies: ReadonlyMap<string, string | undefined>): string {
  for (const { workload, host } of world.members.values()) {
    const wanted = bodies.get(workload);
    if (wanted === undefined) {
      continue;
    }
    const digest = host.kernel?.digest;
    const parked = [...host.refusedEver].some((refused) => refused === wanted);
    if (digest !== wanted && !parked) {
      return `${workload} has ${short(digest ?? "")}, a full render gives ${short(wanted)}`;
    }
  }
  return "";
}

/** What the actors say of themselves and of agents, for people. */
function sayings(world: World): string {
  const agents = [...world.bus.stream("STATUS").records].flatMap(({ payload }) =>
    fromBinary(StatusPageSchema, payload).workloads.map(
      ({ workload, gateway, state, detail }) =>
        `${workload} by ${gateway}: ${nameOf(state)} ${detail}`,
    ),
  );
  const said = [...world.services.values()].flatMap(({ name, readiness }) =>
    readiness.ready ? [] : [`${name}: ${readiness.reason}`],
  );
  const services = said.length === 0 ? "every service says that it is ready" : said.join("; ");
  return [services, ...agents].join("; ");
}

function nameOf(state: AgentState): string {
  return Object.entries(AgentState).find(([, value]) => value === state)?.[0] ?? `${state}`;
}
