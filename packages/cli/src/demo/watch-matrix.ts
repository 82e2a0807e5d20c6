import { setTimeout as delay } from "node:timers/promises";
import { CliError } from "../errors.ts";
import { type Cell, cellsOf, isDeclared, observe, targetText } from "../lab/matrix.ts";
import type { Peer } from "../lab/peer.ts";
import type { BusOperator } from "../live/bus-operator.ts";
import { type Estate, readEstate } from "../live/estate.ts";
import { workloadViews } from "../live/inventory-view.ts";
import { listStatus } from "../live/status.ts";
import type { Session } from "../session.ts";
import { mismatches, type Picture, pictureLines } from "./picture.ts";
import { triedTargets } from "./targets.ts";

/** How the matrix is watched. */
export interface WatchOptions {
  /** Ends after the first look at which every workload is SYNCED. */
  readonly once: boolean;
  readonly timeoutMs: number;
  readonly natsUrl: string;
  readonly signal: AbortSignal;
}

const LOOK_MS = 3_000;
const ATTEMPT_MS = 400;
/** Looks at what went wrong before it counts: a change may be on its way. */
const SECOND_LOOKS = 5;

/** Tries every connection again and again, and shows what is declared and what happens. */
export async function watchMatrix(
  operator: BusOperator,
  session: Session,
  peers: ReadonlyMap<string, Peer>,
  options: WatchOptions,
): Promise<void> {
  const { out } = session;
  const until = performance.now() + options.timeoutMs;
  let shown = "";
  while (!options.signal.aborted) {
    const synced = await isSynced(operator);
    if (synced) {
      const picture = await look(operator, peers);
      const lines = pictureLines(out, picture);
      const text = lines.join("\n");
      if (text !== shown) {
        out.event(documentOf(picture), () => `\n${text}`);
        if (shown === "" && !options.once)
          out.note(tryLines(options.natsUrl, session.globals.prefix));
      }
      shown = text;
      if (options.once) {
        finish(picture);
        return;
      }
    } else if (shown === "" && performance.now() > until) {
      const seconds = options.timeoutMs / 1000;
      throw new CliError("not-converged", `not every workload is SYNCED after ${seconds} s`);
    }
    await delay(synced ? LOOK_MS : 300, undefined, { signal: options.signal }).catch(
      () => undefined,
    );
  }
}

function finish(picture: Picture): void {
  const wrong = mismatches(picture);
  if (wrong.length === 0) return;
  throw new CliError("refused", `${wrong.length} connections did not go as declared`);
}

async function isSynced(operator: BusOperator): Promise<boolean> {
  const [estate, statuses] = await Promise.all([readEstate(operator), listStatus(operator)]);
  return workloadViews(estate, statuses).every(({ state }) => state === "SYNCED");
}

/** One look; what went wrong is looked at again, with what is declared by then. */
async function look(operator: BusOperator, peers: ReadonlyMap<string, Peer>): Promise<Picture> {
  const estate = await readEstate(operator);
  const workloads = estate.workloads.map(({ workload }) => workload);
  const cells = cellsOf(workloads, triedTargets);
  const observed = new Set<Cell>();
  let picture = pictureOf(estate, cells, observed);
  let left = cells;
  for (let round = 0; round <= SECOND_LOOKS && left.length > 0; round += 1) {
    const outcomes = await observe(peers, left, ATTEMPT_MS * (round + 1));
    for (const [cell, outcome] of outcomes) {
      if (outcome === "open") observed.add(cell);
      else observed.delete(cell);
    }
    if (mismatches(picture).length > 0) {
      picture = pictureOf(await readEstate(operator), cells, observed);
    }
    left = mismatches(picture);
  }
  return picture;
}

function pictureOf(estate: Estate, cells: readonly Cell[], observed: ReadonlySet<Cell>): Picture {
  const workloads = estate.workloads.map(({ workload }) => workload);
  return {
    workloads,
    modes: new Map(estate.workloads.map(({ workload, mode }) => [workload.id, mode])),
    cells,
    declared: new Set(cells.filter((cell) => isDeclared(estate.configuration, workloads, cell))),
    observed,
  };
}

function documentOf(picture: Picture) {
  const wrong = mismatches(picture);
  return {
    event: "matrix",
    tried: picture.cells.length,
    passed: picture.observed.size,
    modes: picture.modes,
    mismatches: wrong.map((cell) => ({
      from: cell.from,
      to: cell.to,
      target: targetText(cell),
      source: cell.source,
      declared: picture.declared.has(cell),
    })),
  };
}

function tryLines(natsUrl: string, prefix: string): string {
  const ringwall = `npx ringwall --nats-url ${natsUrl}${prefix === "rw" ? "" : ` --prefix ${prefix}`}`;
  return [
    "",
    "Change something in a second terminal and see what becomes of it:",
    `  ${ringwall} mode role=web,env=prod enforced --expect 2`,
    `  ${ringwall} label batch-1 role=web`,
    "Ctrl-C removes everything.",
  ].join("\n");
}
