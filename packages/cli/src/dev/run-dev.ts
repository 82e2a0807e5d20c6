import { relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CliError } from "../errors.ts";
import type { EstateWorkload } from "../estate/read-estate.ts";
import { type BusOperator, connectOperator } from "../live/bus-operator.ts";
import { type Estate, readEstate } from "../live/estate.ts";
import { type WorkloadView, workloadViews } from "../live/inventory-view.ts";
import { listServices } from "../live/services.ts";
import { listStatus } from "../live/status.ts";
import { readLiveTree } from "../live/tree.ts";
import type { Session } from "../session.ts";
import { registerEstate } from "./adapter.ts";
import { commitExample } from "./commit-example.ts";
import { followEvents } from "./events.ts";
import { endLeftovers, ProcessNotes } from "./leftovers.ts";
import { patiently } from "./patience.ts";
import { type Presenter, presenterFor } from "./presenter.ts";
import { Stack } from "./stack.ts";
import { holdsPolicies, openStateDirectory } from "./state-directory.ts";
import { type Reach, reachingCommand } from "./try-commands.ts";

/** What `ringwall dev` runs. */
export interface DevOptions {
  readonly root: string;
  readonly example: string;
  readonly workloads: readonly EstateWorkload[];
  readonly stateDirectory: string;
  readonly fresh: boolean;
  readonly port: number;
  readonly environment: string;
  readonly exitWhenSynced: boolean;
  readonly timeoutSeconds: number;
}

const SERVICES_DEADLINE_MS = 30_000;
const SERVICES_COUNT = 4;
const REFRESH_MS = 500;

/** Runs everything until Ctrl-C, or until every workload is SYNCED if that was asked. */
export async function runDev(session: Session, options: DevOptions): Promise<void> {
  await using state = await openStateDirectory(options.stateDirectory, options.fresh);
  const presenter = presenterFor(session, !options.exitWhenSynced);
  const left = await endLeftovers(state.root);
  if (left > 0) presenter.step(`ended ${left} processes that the last start left behind`);
  const notes = new ProcessNotes(state.root);
  await using _cleared = { [Symbol.asyncDispose]: () => notes.clear() };
  const failure = new AbortController();
  const signal = AbortSignal.any([session.interrupted, failure.signal]);
  await using stack = new Stack({
    root: options.root,
    state,
    port: options.port,
    prefix: session.globals.prefix,
    environment: options.environment,
    processEnvironment: session.context.environment,
    say: (text) => presenter.say(text),
    started: (name, pid, command) => {
      notes.note(name, pid, command);
      presenter.started(name, pid);
    },
    giveUp: (error) => failure.abort(error),
  });
  try {
    const version = await stack.startNats();
    presenter.step(`nats-server ${version} at ${stack.natsUrl}, state in ${state.root}`);
    stack.startServices();
    const globals = { ...session.globals, natsUrl: stack.natsUrl };
    await using operator = await connectOperator(globals, session.out, signal);
    const reach = { natsUrl: stack.natsUrl, prefix: globals.prefix };
    const known = await holdsPolicies(state.agents);
    await prepare(operator, presenter, options, signal, known, reach);
    await stack.startAgents(options.workloads);
    presenter.step(`${options.workloads.length} agents are dialling`);
    await present(operator, session, presenter, options, reach, signal);
  } catch (error) {
    if (failure.signal.aborted) throw failure.signal.reason;
    if (!session.interrupted.aborted) throw error;
  } finally {
    presenter.stopping();
  }
  if (failure.signal.aborted) throw failure.signal.reason;
}

async function prepare(
  operator: BusOperator,
  presenter: Presenter,
  options: DevOptions,
  signal: AbortSignal,
  agentsHavePolicies: boolean,
  reach: Reach,
): Promise<void> {
  await servicesUp(operator, signal);
  presenter.step("version-keeper, registrar, renderer and agent-gateway are up");
  const { head } = await patiently(() => readLiveTree(operator));
  if (head !== undefined) {
    presenter.step("the configuration of the last start is kept (--fresh begins anew)");
  } else if (agentsHavePolicies) {
    // A lost configuration must not be papered over: agents know commits that it does not have.
    const ringwall = reachingCommand(reach);
    presenter.step(
      "the streams are empty, but agents have policies: the control plane is held and pushes nothing",
    );
    presenter.step(`restore ${options.stateDirectory}/nats, or give up what it held:`);
    presenter.step(`  ${ringwall} accept-state --expect 0`);
    presenter.step(`  ${ringwall} apply -f ${relative("", options.example)}`);
  } else {
    const files = await commitExample(operator, options.example, options.environment);
    presenter.step(
      `committed ${relative("", options.example)}: ${files} documents for ${options.environment}`,
    );
  }
  const { changed, problems } = await registerEstate(operator, options.workloads);
  presenter.step(
    changed === 0
      ? `${options.workloads.length} workloads are registered`
      : `registered ${changed} of ${options.workloads.length} workloads`,
  );
  for (const { workload, problem } of problems) {
    presenter.say(`${workload}: ${problem.code} ${problem.annotation}: ${problem.message}`);
  }
}

async function servicesUp(operator: BusOperator, signal: AbortSignal): Promise<void> {
  const until = performance.now() + SERVICES_DEADLINE_MS;
  let names: ReadonlySet<string> = new Set();
  while (!signal.aborted) {
    names = new Set((await listServices(operator)).map(({ service }) => service));
    if (names.size >= SERVICES_COUNT) return;
    if (performance.now() > until) {
      throw new CliError("transport", "the services did not come up", {
        lines: [`up: ${[...names].join(", ") || "none"}`],
        hint: "their logs are in the state directory's log/",
      });
    }
    await delay(100);
  }
  throw new CliError("transport", "stopped before the services were up");
}

async function present(
  operator: BusOperator,
  session: Session,
  presenter: Presenter,
  options: DevOptions,
  reach: Reach,
  signal: AbortSignal,
): Promise<void> {
  const ending = new AbortController();
  const stop = AbortSignal.any([signal, ending.signal]);
  const events = followEvents(operator, session.out, stop, (text) => presenter.say(text));
  const until = performance.now() + options.timeoutSeconds * 1_000;
  let estate: Estate | undefined;
  try {
    while (!signal.aborted) {
      const statuses = await listStatus(operator).catch(ignorePassing);
      estate = (await readEstate(operator, estate).catch(ignorePassing)) ?? estate;
      if (estate !== undefined && statuses !== undefined) {
        const views = workloadViews(estate, statuses);
        const synced = isSynced(views, options.workloads);
        presenter.show(views, synced, reach);
        if (synced && options.exitWhenSynced) return;
        if (options.exitWhenSynced && performance.now() > until) throw notSynced(views, options);
      }
      await delay(REFRESH_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    ending.abort();
    await events;
  }
}

// A service that is being started again answers with the next look.
function ignorePassing(error: unknown): undefined {
  if (error instanceof CliError && error.code === "transport") return undefined;
  throw error;
}

function isSynced(views: readonly WorkloadView[], workloads: readonly EstateWorkload[]): boolean {
  const byId = new Map(views.map((view) => [view.id, view]));
  return workloads.every(({ id }) => byId.get(id)?.state === "SYNCED");
}

function notSynced(views: readonly WorkloadView[], options: DevOptions): CliError {
  const late = views.filter((view) => view.state !== "SYNCED");
  return new CliError(
    "not-converged",
    `${late.length} of ${views.length} workloads are not SYNCED after ${options.timeoutSeconds} s`,
    { lines: late.map((view) => `${view.id}: ${view.state} ${view.detail}`) },
  );
}
