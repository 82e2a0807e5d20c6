import type { Compose } from "./compose.ts";
import { type Attempt, connectFrom } from "./connection.ts";
import type { Operator } from "./operator.ts";
import { run } from "./process.ts";

/** What is killed, and how the rest goes on. */
export interface Failure {
  readonly name: string;
  readonly service: string;
  /** One instance of several, or every one. */
  readonly what: "one" | "all";
  /**
   * `never`: the others carry on alone. `before`: nobody could take the commit, so it comes back
   * first. `during`: it comes back while the command waits for the convergence.
   */
  readonly back: "never" | "before" | "during";
}

/** Each service whole, one instance of each that has two, the bus and one host. */
export const FAILURES: readonly Failure[] = [
  { name: "one renderer", service: "renderer", what: "one", back: "never" },
  { name: "one version-keeper", service: "version-keeper", what: "one", back: "never" },
  { name: "one agent-gateway", service: "agent-gateway", what: "one", back: "never" },
  { name: "the registrar", service: "registrar", what: "all", back: "never" },
  { name: "every renderer", service: "renderer", what: "all", back: "during" },
  { name: "every version-keeper", service: "version-keeper", what: "all", back: "before" },
  { name: "every agent-gateway", service: "agent-gateway", what: "all", back: "before" },
  { name: "NATS", service: "nats", what: "all", back: "before" },
  { name: "the agent of db-1", service: "db-1", what: "all", back: "before" },
];

/** What a failure is tried on. */
export interface Scene {
  readonly compose: Compose;
  readonly operator: Operator;
  readonly dbAddress: string;
  /** Listens again in db-1's container, whose processes end with it. */
  readonly listen: () => Promise<void>;
}

/** Kills, applies, looks at the kernel's answer, and brings everything back; gives the times. */
export async function tryFailure(
  scene: Scene,
  failure: Failure,
  allowed: boolean,
): Promise<string> {
  let beganMs = performance.now();
  const seconds = () => {
    const tookMs = performance.now() - beganMs;
    beganMs += tookMs;
    return `${(tookMs / 1000).toFixed(1)} s`;
  };
  const times: string[] = [];
  const { compose, operator } = scene;
  const { service, what, back } = failure;
  if (what === "all") {
    await compose.do(["kill", service]);
  } else {
    const [first] = await compose.containers(service);
    if (first === undefined) throw new Error(`${service} has no running container`);
    const killed = await run("docker", ["kill", first]);
    if (killed.code !== 0) throw new Error(`${service} was not killed: ${killed.stderr}`);
  }
  try {
    if (back === "before") await restore(scene, service);
    times.push(`killed ${seconds()}`);
    const applied = operator.webMayQuery(allowed);
    await Promise.all([applied, ...(back === "during" ? [restore(scene, service)] : [])]);
    times.push(`converged ${seconds()}`);
    const wanted: Attempt = allowed ? "open" : "silent";
    const attempt = await connectFrom(compose, "web-1", scene.dbAddress, 5432);
    if (attempt !== wanted) throw new Error(`web-1 → db-1:5432 is ${attempt}, not ${wanted}`);
  } finally {
    await restore(scene, service);
  }
  return `: ${[...times, `all back ${seconds()}`].join(", ")}`;
}

async function restore(scene: Scene, service: string): Promise<void> {
  const { compose, listen } = scene;
  const before = await compose.containers("db-1");
  await compose.up([service]);
  if (before.length === 0) await listen();
}
