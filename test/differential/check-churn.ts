import assert from "node:assert/strict";
import type { SourceChange } from "@ringwall/render";
import { Chance, derivedSeed, HistoryWriter } from "@ringwall/testkit";
import { EngineRun } from "./engine-run.ts";
import { renderedDigests } from "./expected.ts";
import { after, EMPTY_STATE, type SourceState } from "./source-state.ts";

/** Flushes of one estate. */
const FLUSHES = 6;

/**
 * Runs an estate of some hundred workloads through batches of very different sizes, so that lists
 * grow, sets are collected anew and much moves at once, and then removes it all; throws if a head
 * differs from the full render or anything is left at the end.
 */
export function checkChurn(seed: number): void {
  const chance = new Chance(derivedSeed(seed, "churn"));
  const workloads = chance.pick([50, 200, 400, 1_500] as const);
  const writer = new HistoryWriter(derivedSeed(seed, "churning history"), workloads);
  const run = new EngineRun();
  let state: SourceState = EMPTY_STATE;
  let batch: SourceChange[] = writer.begin();
  try {
    for (let flush = 0; flush < FLUSHES; flush++) {
      state = batch.reduce(after, state);
      run.apply(batch);
      run.flush();
      run.checkDigests(renderedDigests(state));
      const size = chance.pick([1, 3, 20, 200, 3 * workloads] as const);
      batch = Array.from({ length: size }, () => writer.next());
    }
    const removals = [...state.workloads.keys()].map(
      (id): SourceChange => ({ kind: "removal", id }),
    );
    run.apply([...removals, { kind: "configuration", configuration: EMPTY_STATE.configuration }]);
    run.flush();
    run.flush();
    const left = Object.entries(run.sizes()).filter(([, size]) => size > 0);
    assert.deepEqual(left, [], "left after everything is gone");
  } catch (cause) {
    throw new Error(`churn ${seed}: ${String(cause)}`, { cause });
  }
}
