import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { registerEstate } from "../dev/adapter.ts";
import { commitExample } from "../dev/commit-example.ts";
import { Stack } from "../dev/stack.ts";
import { openStateDirectory } from "../dev/state-directory.ts";
import { CliError } from "../errors.ts";
import type { EstateWorkload } from "../estate/read-estate.ts";
import { type BusOperator, connectOperator } from "../live/bus-operator.ts";
import { listServices } from "../live/services.ts";
import type { Session } from "../session.ts";
import { DemoLab } from "./demo-lab.ts";
import { servedPorts } from "./targets.ts";
import { watchMatrix } from "./watch-matrix.ts";

/** What a demonstration on real kernels runs. */
export interface DemoOptions {
  readonly root: string;
  readonly example: string;
  readonly workloads: readonly EstateWorkload[];
  readonly port: number;
  readonly environment: string;
  /** Ends after the first look at which every workload is SYNCED. */
  readonly once: boolean;
  readonly timeoutSeconds: number;
}

const SERVICES_COUNT = 4;
/** Every process of the demonstration is ended when this one is. */
const EXIT_LISTENERS = 1000;

/** Runs a control plane, a namespace for each workload, and the matrix, until Ctrl-C. */
export async function runDemo(session: Session, options: DemoOptions): Promise<void> {
  const { out } = session;
  process.setMaxListeners(EXIT_LISTENERS);
  const directory = await mkdtemp(join(tmpdir(), "ringwall-demo-"));
  // Also after a second Ctrl-C, which waits for nobody.
  const removeAtOnce = () => rmSync(directory, { recursive: true, force: true });
  process.once("exit", removeAtOnce);
  await using _removed = { [Symbol.asyncDispose]: async () => removeAtOnce() };
  await using state = await openStateDirectory(join(directory, "control"), true);
  const failure = new AbortController();
  const signal = AbortSignal.any([session.interrupted, failure.signal]);
  const say = (text: string) => out.note(text);
  const giveUp = (error: CliError) => failure.abort(error);
  const { prefix } = session.globals;
  const { environment } = session.context;
  await using stack = new Stack({
    root: options.root,
    state,
    port: options.port,
    prefix,
    environment: options.environment,
    processEnvironment: environment,
    say,
    started: () => undefined,
    giveUp,
  });
  try {
    await stack.startNats();
    stack.startServices();
    const { natsUrl } = stack;
    out.event({ event: "started", natsUrl }, () => `control plane at ${natsUrl}`);
    const { root, port } = options;
    const parts = { root, directory, natsPort: port, prefix, environment, say, giveUp };
    await using lab = await DemoLab.build(parts, options.workloads, servedPorts);
    say(`${options.workloads.length} network namespaces, each with a server`);
    const globals = { ...session.globals, natsUrl: stack.natsUrl };
    await using operator = await connectOperator(globals, out, signal);
    await servicesUp(operator, signal);
    await commitExample(operator, options.example, options.environment);
    await registerEstate(operator, options.workloads);
    await lab.startAgents(options.workloads);
    say("an agent in each of them installs its rules; now every connection is tried");
    await watchMatrix(operator, session, lab.peers, {
      once: options.once,
      timeoutMs: options.timeoutSeconds * 1000,
      natsUrl: stack.natsUrl,
      signal,
    });
  } catch (error) {
    if (failure.signal.aborted) throw failure.signal.reason;
    if (!session.interrupted.aborted) throw error;
  } finally {
    say("removing everything");
  }
}

async function servicesUp(operator: BusOperator, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const services = await listServices(operator);
    if (new Set(services.map(({ service }) => service)).size >= SERVICES_COUNT) return;
    await delay(100);
  }
  throw new CliError("transport", "stopped before the services were up");
}
