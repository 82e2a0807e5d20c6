import type { BodyChanges, BodyStep, Head } from "../body-source.ts";
import type { KnownHead } from "./bodies/known-head.ts";
import type { PolicyClass } from "./bodies/policy-class.ts";

/** Ids of heads stay below this, so that two of them make one safe integer. */
const PAIR_FACTOR = 2 ** 26;

/** What steps are made with. */
export interface StepBase {
  readonly nameOf: (workload: number) => string;
  readonly encode: (from: PolicyClass, to: PolicyClass) => Uint8Array;
}

const NOBODY: readonly string[] = [];

/** Workloads that take the same step. The delta is encoded when somebody asks for it. */
class GatheredStep implements BodyStep {
  readonly from: Head | undefined;
  readonly to: Head;
  #workloads: string[] | undefined;
  readonly #base: StepBase;
  readonly #fromClass: PolicyClass | undefined;
  readonly #toClass: PolicyClass;
  #delta: Uint8Array | undefined;

  constructor(
    base: StepBase,
    from: KnownHead | undefined,
    to: KnownHead,
    fromClass: PolicyClass | undefined,
    toClass: PolicyClass,
  ) {
    this.#base = base;
    this.from = from?.head;
    this.to = to.head;
    this.#fromClass = fromClass;
    this.#toClass = toClass;
  }

  get workloads(): readonly string[] {
    return this.#workloads ?? NOBODY;
  }

  /** Adds a workload by its number. */
  add(workload: number): void {
    const name = this.#base.nameOf(workload);
    if (this.#workloads === undefined) {
      // A literal has room for just this one, which is all in most steps of a whole estate.
      this.#workloads = [name];
    } else {
      this.#workloads.push(name);
    }
  }

  /** Adds workloads by their names, in an array that becomes this step's. */
  addAll(names: string[]): void {
    if (this.#workloads === undefined) {
      this.#workloads = names;
    } else {
      for (const name of names) {
        this.#workloads.push(name);
      }
    }
  }

  delta(): Uint8Array | undefined {
    const from = this.#fromClass;
    if (this.from?.kind === "body" && this.to.kind === "body" && from !== undefined) {
      this.#delta ??= this.#base.encode(from, this.#toClass);
    }
    return this.#delta;
  }
}

/** Gathers workloads by the step that they take from one body to another. */
export class StepGatherer {
  readonly #base: StepBase;
  readonly #steps: GatheredStep[] = [];
  /** Steps of new workloads by the id of the head that they get. */
  readonly #first: (GatheredStep | undefined)[] = [];
  /** Other steps by the ids of both heads. */
  readonly #byPair = new Map<number, GatheredStep>();

  constructor(base: StepBase) {
    this.#base = base;
  }

  /** The steps that workloads take, each pair of heads once. */
  get steps(): readonly GatheredStep[] {
    return this.#steps.filter(({ workloads }) => workloads.length > 0);
  }

  /** The step between two classes' heads; undefined if nothing changes. */
  stepOf(
    fromClass: PolicyClass | undefined,
    from: KnownHead | undefined,
    toClass: PolicyClass,
  ): GatheredStep | undefined {
    const to = toClass.head;
    if (to === undefined || to === from) {
      return undefined;
    }
    const pair = from === undefined ? 0 : from.id * PAIR_FACTOR + to.id;
    let step = from === undefined ? this.#first[to.id] : this.#byPair.get(pair);
    if (step === undefined) {
      step = new GatheredStep(this.#base, from, to, fromClass, toClass);
      this.#steps.push(step);
      if (from === undefined) {
        this.#first[to.id] = step;
      } else {
        this.#byPair.set(pair, step);
      }
    }
    return step;
  }
}

/** The changes of one flush. */
export class GatheredChanges implements BodyChanges {
  readonly steps: readonly BodyStep[];
  readonly removed: readonly string[];
  readonly skippedRows: number;
  #heads: ReadonlyMap<string, Head> | undefined;

  constructor(steps: readonly BodyStep[], removed: readonly string[], skippedRows: number) {
    this.steps = steps;
    this.removed = removed;
    this.skippedRows = skippedRows;
  }

  get heads(): ReadonlyMap<string, Head> {
    this.#heads ??= headsOf(this.steps);
    return this.#heads;
  }
}

function headsOf(steps: readonly BodyStep[]): ReadonlyMap<string, Head> {
  const heads = new Map<string, Head>();
  for (const { to, workloads } of steps) {
    for (const workload of workloads) {
      heads.set(workload, to);
    }
  }
  return heads;
}
