import type { BodyChanges, Progress, SourceChange } from "../body-source.ts";
import type { PolicyClass } from "./bodies/policy-class.ts";
import { GatheredChanges, StepGatherer } from "./body-changes.ts";
import { type EngineSizes, sizesOf } from "./engine-sizes.ts";
import { Pending } from "./pending.ts";
import { EngineState } from "./state.ts";
import { Column } from "./store/column.ts";
import { Marks } from "./store/marks.ts";
import { Pause } from "./store/pause.ts";
import { NO_CELL } from "./workloads/cells.ts";

/** Units of work between two yields: a few milliseconds. */
const WORKLOADS_PER_STEP = 1_000;
const RULESETS_PER_STEP = 500;
const CALLERS_PER_STEP = 500;
const CELLS_PER_STEP = 2_000;
const RULES_PER_STEP = 2_000;
const MOVES_PER_STEP = 5_000;

const NO_CLASS = 0;

/**
 * The incremental engine: keeps everything that bodies follow from, interned, and renders again only
 * what a change reaches: touched selectors, the peer sets that they feed, the bodies that use those,
 * the workloads that have them. What it gives does not depend on order, repetition or batching of
 * changes, and equals the full render of the same inputs.
 *
 * A flush is worked off in slices of a few milliseconds, so that an actor can serve its mailbox in
 * between; changes that are applied meanwhile belong to the next flush.
 */
export class Engine {
  readonly #state = new EngineState();
  #pending = new Pending();
  #running: Generator<void, BodyChanges> | undefined;
  #progress: Progress = { phase: "reading", done: 0, total: 0 };
  /** Workloads and cells that moved in the present flush, and their classes before, + 1. */
  readonly #movedWorkloads = new Marks();
  readonly #movedCells = new Marks();
  readonly #workloadFrom = new Column();
  readonly #cellFrom = new Column();

  /** Takes changes for the next flush. */
  apply(changes: Iterable<SourceChange>): void {
    for (const change of changes) {
      this.#pending.take(change);
    }
  }

  /** Begins a flush of everything applied so far; nothing happens if one is under way. */
  begin(): void {
    if (this.#running === undefined) {
      const pending = this.#pending;
      this.#pending = new Pending();
      this.#progress = { phase: "reading", done: 0, total: pending.workloads.length };
      this.#running = this.#flush(pending);
    }
  }

  /** Works off one slice; the changes when the flush is done, undefined while it is not. */
  work(): BodyChanges | undefined {
    const step = this.#running?.next();
    if (step === undefined || !step.done) {
      return undefined;
    }
    this.#running = undefined;
    return step.value;
  }

  /** How far the flush under way has come, or the last one. */
  progress(): Progress {
    return this.#progress;
  }

  /** What is held at present. */
  sizes(): EngineSizes {
    return sizesOf(this.#state);
  }

  /**
   * Content objects of a body: its manifest first, then the sets that it names. Of bodies in force,
   * and until the next flush begins also of those that the last one replaced.
   */
  objectsOf(digest: string): readonly string[] {
    return this.#state.bodies.objectsOf(digest);
  }

  /** Bytes of a content object of such a body, encoded when they are asked for. */
  object(digest: string): Uint8Array | undefined {
    return this.#state.bodies.object(digest);
  }

  *#flush(pending: Pending): Generator<void, BodyChanges> {
    const state = this.#state;
    yield* state.settle();
    const { configuration, edits, workloads } = pending;
    if (state.fleet.size === 0) {
      state.reserve(workloads.length, configuration?.rulesets.length ?? 0);
    }
    const comparison =
      configuration === undefined ? undefined : state.compared(configuration, edits);
    if (comparison !== undefined) {
      state.followInventory(comparison);
      yield* state.fleet.followInventory(WORKLOADS_PER_STEP);
    }
    yield* this.#followWorkloads(workloads);
    if (configuration !== undefined && comparison !== undefined) {
      yield* state.followConfiguration(configuration, comparison, RULESETS_PER_STEP);
    }
    const cells = yield* state.routes.followEdits(CALLERS_PER_STEP);
    const moved = state.fleet.cells.takeMoved();
    const movedCells = yield* this.#classify(moved, cells);
    for (const source of yield* state.peers.update()) {
      state.classes.peersChanged(source);
    }
    for (const list of state.decisions.update()) {
      state.classes.routesChanged(list);
    }
    const rendered = yield* this.#render();
    return yield* this.#gather(moved, movedCells, rendered);
  }

  *#followWorkloads(workloads: Pending["workloads"]): Generator<void, void> {
    const { fleet } = this.#state;
    const total = workloads.length;
    for (let done = 0; done < total; done++) {
      if (done > 0 && done % WORKLOADS_PER_STEP === 0) {
        this.#progress = { phase: "reading", done, total };
        yield;
      }
      const change = workloads[done];
      if (change?.kind === "removal") {
        fleet.remove(change.id);
      } else if (change !== undefined) {
        fleet.put(change.workload);
      }
    }
    this.#progress = { phase: "reading", done: total, total };
  }

  /** Puts cells into their classes; gives the cells that are in another one now. */
  *#classify(
    moved: readonly number[],
    rerouted: readonly number[],
  ): Generator<void, readonly number[]> {
    const { fleet, routes } = this.#state;
    const { cells } = fleet;
    const touched = cells.takeTouched();
    this.#noteFormerClasses(moved);
    if (moved.length > MOVES_PER_STEP) {
      yield;
    }
    this.#dropEmptyCells();
    const pause = new Pause(CELLS_PER_STEP);
    for (let index = 0; index < touched.length; index++) {
      if (pause.isDue(1)) {
        yield;
      }
      const cell = touched[index] ?? NO_CELL;
      if (cells.memberCount(cell) > 0) {
        routes.enter(cell);
      }
    }
    const rescoped = yield* this.#rescopedCells();
    const movedCells: number[] = [];
    this.#movedCells.clear();
    for (const some of [touched, rerouted, rescoped]) {
      for (let index = 0; index < some.length; index++) {
        if (pause.isDue(1)) {
          yield;
        }
        const cell = some[index] ?? NO_CELL;
        if (this.#placeCell(cell)) {
          movedCells.push(cell);
        }
      }
    }
    return movedCells;
  }

  /** Puts a cell into its class; true if it is in another one than before the flush. */
  #placeCell(cell: number): boolean {
    const { classes, fleet, routes } = this.#state;
    if (fleet.cells.memberCount(cell) === 0) {
      return false;
    }
    const before = classes.ofCell(cell);
    classes.place(cell, routes.listOf(cell));
    if (before === undefined || before === classes.ofCell(cell) || !this.#movedCells.add(cell)) {
      return false;
    }
    this.#cellFrom.put(cell, before.index + 1);
    return true;
  }

  #noteFormerClasses(moved: readonly number[]): void {
    const { classes, fleet } = this.#state;
    this.#movedWorkloads.clear();
    for (let index = 0; index < moved.length; index++) {
      const workload = moved[index] ?? 0;
      const former = fleet.cells.takeFormer(workload);
      const from = former === NO_CELL ? undefined : classes.ofCell(former);
      this.#workloadFrom.put(workload, from === undefined ? NO_CLASS : from.index + 1);
      this.#movedWorkloads.add(workload);
    }
  }

  #dropEmptyCells(): void {
    const { classes, fleet, lists, routes } = this.#state;
    const { cells } = fleet;
    for (const cell of cells.takeEmptied()) {
      routes.leave(cell);
      classes.leave(cell);
      cells.drop(cell);
    }
    for (const set of cells.takeVacated()) {
      lists.invalidate(set);
    }
  }

  /** Cells of label sets in the scope of a ruleset that came, went or changed. */
  *#rescopedCells(): Generator<void, readonly number[]> {
    const { book, fleet, labels, lists } = this.#state;
    const found: number[] = [];
    const pause = new Pause(CELLS_PER_STEP);
    const scopes = book.takeTouchedScopes();
    for (let place = 0; place < scopes.length; place++) {
      const scope = scopes[place] ?? 0;
      if (pause.isDue(1 + labels.setCount(scope))) {
        yield;
      }
      for (let index = labels.setCount(scope) - 1; index >= 0; index--) {
        const set = labels.setAt(scope, index);
        if (lists.invalidate(set)) {
          for (let at = fleet.cells.countOfSet(set) - 1; at >= 0; at--) {
            found.push(fleet.cells.ofSetAt(set, at));
          }
        }
      }
    }
    return found;
  }

  /** Renders what is dirty; gives the classes whose head is another one now. */
  *#render(): Generator<void, readonly PolicyClass[]> {
    const { bodies, classes } = this.#state;
    const dirty = classes.takeDirty();
    const changed: PolicyClass[] = [];
    const pause = new Pause(RULES_PER_STEP);
    for (let done = 0; done < dirty.length; done++) {
      const policyClass = dirty[done];
      if (policyClass === undefined || !classes.isInhabited(policyClass)) {
        continue;
      }
      if (bodies.render(policyClass)) {
        changed.push(policyClass);
      }
      if (pause.isDue(1 + policyClass.list.rules.length)) {
        this.#progress = { phase: "rendering", done: done + 1, total: dirty.length };
        yield;
      }
    }
    return changed;
  }

  /** Gathers workloads by the step that they take. */
  *#gather(
    moved: readonly number[],
    movedCells: readonly number[],
    rendered: readonly PolicyClass[],
  ): Generator<void, BodyChanges> {
    const { buckets, classes, deltas, fleet } = this.#state;
    const gatherer = new StepGatherer({
      nameOf: (workload) => fleet.name(workload),
      encode: (from, to) => deltas.encode(from, to),
    });
    const removed: string[] = [];
    const pause = new Pause(MOVES_PER_STEP);
    for (let index = 0; index < moved.length; index++) {
      if (pause.isDue(1)) {
        yield;
      }
      this.#gatherMoved(moved[index] ?? 0, removed, gatherer);
    }
    for (const cell of movedCells) {
      if (pause.isDue(fleet.cells.memberCount(cell))) {
        yield;
      }
      const from = classes.at(this.#cellFrom.at(cell) - 1);
      const to = classes.ofCell(cell);
      if (from !== undefined && to !== undefined) {
        this.#gatherCell(cell, from, to, gatherer);
      }
    }
    for (let index = 0; index < rendered.length; index++) {
      const policyClass = rendered[index];
      if (policyClass === undefined) {
        continue;
      }
      const workloads = this.#countUnmoved(policyClass);
      if (pause.isDue(1 + workloads)) {
        yield;
      }
      this.#gatherClass(policyClass, workloads, gatherer);
    }
    return new GatheredChanges(gatherer.steps, removed, buckets.skipped);
  }

  /** Gathers a workload that came, left or is in another cell. */
  #gatherMoved(workload: number, removed: string[], gatherer: StepGatherer): void {
    const { bodies, classes, fleet } = this.#state;
    const from = classes.at(this.#workloadFrom.at(workload) - 1);
    const to = classes.ofCell(fleet.cells.of(workload));
    if (to !== undefined) {
      const before = from === undefined ? undefined : bodies.headBefore(from);
      gatherer.stepOf(from, before, to)?.add(workload);
    } else if (from !== undefined) {
      removed.push(fleet.name(workload));
    }
  }

  #gatherCell(cell: number, from: PolicyClass, to: PolicyClass, gatherer: StepGatherer): void {
    const { cells } = this.#state.fleet;
    const step = gatherer.stepOf(from, this.#state.bodies.headBefore(from), to);
    if (step === undefined) {
      return;
    }
    for (let index = cells.memberCount(cell) - 1; index >= 0; index--) {
      const workload = cells.memberAt(cell, index);
      if (!this.#movedWorkloads.has(workload)) {
        step.add(workload);
      }
    }
  }

  /** Gathers the so many workloads of a class with another head that did not move. */
  #gatherClass(policyClass: PolicyClass, count: number, gatherer: StepGatherer): void {
    const { bodies, classes, fleet } = this.#state;
    if (count === 0) {
      return;
    }
    const step = gatherer.stepOf(policyClass, bodies.headBefore(policyClass), policyClass);
    // As long as it will be: names are most of what a change that reaches many workloads allocates.
    const names = new Array<string>(count);
    let length = 0;
    for (let index = classes.cellCount(policyClass) - 1; index >= 0; index--) {
      const cell = classes.cellAt(policyClass, index);
      for (let at = this.#unmovedMembers(cell) - 1; at >= 0; at--) {
        const workload = fleet.cells.memberAt(cell, at);
        if (!this.#movedWorkloads.has(workload)) {
          names[length++] = fleet.name(workload);
        }
      }
    }
    step?.addAll(names);
  }

  /** Members of a cell that did not move itself. */
  #unmovedMembers(cell: number): number {
    return this.#movedCells.has(cell) ? 0 : this.#state.fleet.cells.memberCount(cell);
  }

  /** Workloads of a class that did not move, neither by themselves nor with their cells. */
  #countUnmoved(policyClass: PolicyClass): number {
    const { classes, fleet } = this.#state;
    const { cells } = fleet;
    let count = 0;
    for (let index = classes.cellCount(policyClass) - 1; index >= 0; index--) {
      const cell = classes.cellAt(policyClass, index);
      for (let at = this.#unmovedMembers(cell) - 1; at >= 0; at--) {
        count += this.#movedWorkloads.has(cells.memberAt(cell, at)) ? 0 : 1;
      }
    }
    return count;
  }
}
