import assert from "node:assert/strict";
import type { Configuration, SourceChange } from "@ringwall/render";
import { Chance, derivedSeed, HistoryWriter } from "@ringwall/testkit";
import { EngineRun } from "./engine-run.ts";
import { type Expected, expectedOf } from "./expected.ts";
import { after, EMPTY_STATE, type SourceState } from "./source-state.ts";

/** A history cut into batches, each flushed; ends name how much of the history each batch covers. */
interface Expansion {
  readonly name: string;
  readonly batches: readonly { readonly changes: readonly SourceChange[]; readonly end: number }[];
}

/** Inputs and what they render to, after each number of changes; rendered when first asked for. */
class Outcomes {
  readonly states: readonly SourceState[];
  readonly #expected = new Map<number, Expected>();

  constructor(history: readonly SourceChange[]) {
    const states = [EMPTY_STATE];
    for (const change of history) {
      states.push(after(states.at(-1) ?? EMPTY_STATE, change));
    }
    this.states = states;
  }

  after(count: number): Expected {
    let expected = this.#expected.get(count);
    if (expected === undefined) {
      expected = expectedOf(this.states[count] ?? EMPTY_STATE);
      this.#expected.set(count, expected);
    }
    return expected;
  }
}

/**
 * Runs one random history through the engine in every expansion; throws if anything differs from the
 * full render or from the definitions, at any flush.
 */
export function checkHistory(seed: number): void {
  const writer = new HistoryWriter(derivedSeed(seed, "history"));
  const chance = new Chance(derivedSeed(seed, "expansion"));
  const history = writer.begin();
  const edits = chance.between(2, 8);
  for (let edit = 0; edit < edits; edit++) {
    history.push(writer.next());
  }
  if (chance.happens(0.5)) {
    nameEdits(history);
  }
  const outcomes = new Outcomes(history);
  for (const expansion of expansionsOf(history, chance)) {
    try {
      runExpansion(expansion, outcomes, chance);
    } catch (cause) {
      throw new Error(`history ${seed}, ${expansion.name}: ${String(cause)}`, { cause });
    }
  }
}

/**
 * Has each configuration say what it edits in the one before it. Where an expansion puts another one
 * before it, or none, that must not be used.
 */
function nameEdits(history: SourceChange[]): void {
  let since = EMPTY_STATE.configuration;
  history.forEach((change, index) => {
    if (change.kind === "configuration") {
      const { configuration } = change;
      const before = unitsNotIn(since, configuration);
      const after = unitsNotIn(configuration, since);
      history[index] = { ...change, edits: { since, before, after } };
      since = configuration;
    }
  });
}

/** Units that another configuration does not have, or not so. */
function unitsNotIn(one: Configuration, other: Configuration): Configuration {
  const without = <T>(units: readonly T[], others: readonly T[]) => {
    const texts = new Set(others.map((each) => JSON.stringify(each)));
    return units.filter((unit) => !texts.has(JSON.stringify(unit)));
  };
  return {
    rulesets: without(one.rulesets, other.rulesets),
    services: without(one.services, other.services),
    addressGroups: without(one.addressGroups, other.addressGroups),
    routes: without(one.routes, other.routes),
    inventory: without(one.inventory, other.inventory),
  };
}

function expansionsOf(history: readonly SourceChange[], chance: Chance): Expansion[] {
  const all = history.length;
  const each = history.map((change, index) => ({ changes: [change], end: index + 1 }));
  const net = new Map(history.map((change) => [keyOf(change), change]));
  return [
    { name: "flushed after each", batches: each },
    { name: "flushed at the end", batches: [{ changes: history, end: all }] },
    {
      name: "each repeated",
      batches: each.map(({ changes, end }) => ({ changes: [...changes, ...changes], end })),
    },
    { name: "random batches", batches: cut(each, chance) },
    {
      name: "reversed",
      batches: [{ changes: [...net.values()].reverse(), end: all }],
    },
    {
      name: "reversed, flushed after each",
      batches: [...net.values()].reverse().map((change) => ({ changes: [change], end: NaN })),
    },
  ];
}

function cut(each: Expansion["batches"], chance: Chance): Expansion["batches"] {
  const batches: { changes: SourceChange[]; end: number }[] = [];
  for (const { changes, end } of each) {
    const last = batches.at(-1);
    if (last === undefined || chance.happens(0.4)) {
      batches.push({ changes: [...changes], end });
    } else {
      last.changes.push(...changes);
      last.end = end;
    }
  }
  return batches;
}

function runExpansion({ batches }: Expansion, outcomes: Outcomes, chance: Chance): void {
  const run = new EngineRun();
  const last = outcomes.states.length - 1;
  let changes = run.flush();
  for (const batch of batches) {
    run.apply(batch.changes);
    changes = run.flush();
    if (!Number.isNaN(batch.end)) {
      run.check(outcomes.after(batch.end), changes);
    }
  }
  run.check(outcomes.after(last), changes);
  run.apply(chance.shuffled(restated(outcomes.states[last] ?? EMPTY_STATE, chance)));
  const again = run.flush();
  assert.deepEqual([again.steps.length, again.removed.length], [0, 0], "the same inputs again");
  run.check(outcomes.after(last), again);
}

/** The same inputs once more, as new objects and in another order. */
function restated({ configuration, workloads }: SourceState, chance: Chance): SourceChange[] {
  const copy = structuredClone(configuration);
  return [
    {
      kind: "configuration",
      configuration: {
        rulesets: chance.shuffled(copy.rulesets),
        services: chance.shuffled(copy.services),
        addressGroups: chance.shuffled(copy.addressGroups),
        routes: chance.shuffled(copy.routes),
        inventory: chance.shuffled(copy.inventory),
      },
    },
    ...Array.from(workloads.values(), (workload): SourceChange => {
      const { rows, addresses, ...rest } = structuredClone(workload);
      return {
        kind: "workload",
        workload: { ...rest, rows: chance.shuffled(rows), addresses: chance.shuffled(addresses) },
      };
    }),
  ];
}

function keyOf(change: SourceChange): string {
  switch (change.kind) {
    case "configuration":
      return "configuration";
    case "workload":
      return `workload ${change.workload.id}`;
    case "removal":
      return `workload ${change.id}`;
  }
}
