import type { BodyChanges, BodyStep, Head } from "../body-source.ts";
import type { KnownHead, PolicyClass } from "./bodies/policy-class.ts";

/** What makes steps readable. */
export interface StepBase {
  readonly nameOf: (workload: number) => string;
  readonly encode: (from: PolicyClass, to: PolicyClass) => Uint8Array;
}

/** Ids of heads stay below this, so that two of them make one safe integer. */
const PAIR_FACTOR = 2 ** 26;

/** Workloads that take the same step. Names are looked up and the delta encoded when asked for. */
export class GatheredStep implements BodyStep {
  readonly #base: StepBase;
  readonly #from: KnownHead | undefined;
  readonly #to: KnownHead;
  readonly #fromClass: PolicyClass | undefined;
  readonly #toClass: PolicyClass;
  readonly #numbers: number[] = [];
  #names: readonly string[] | undefined;
  #delta: Uint8Array | undefined;

  constructor(
    base: StepBase,
    from: KnownHead | undefined,
    to: KnownHead,
    classes: { readonly from: PolicyClass | undefined; readonly to: PolicyClass },
  ) {
    this.#base = base;
    this.#from = from;
    this.#to = to;
    this.#fromClass = classes.from;
    this.#toClass = classes.to;
  }

  get from(): Head | undefined {
    return this.#from?.head;
  }

  get to(): Head {
    return this.#to.head;
  }

  get size(): number {
    return this.#numbers.length;
  }

  get workloads(): readonly string[] {
    this.#names ??= this.#numbers.map(this.#base.nameOf);
    return this.#names;
  }

  /** Adds a workload by its number. */
  add(workload: number): void {
    this.#numbers.push(workload);
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
  readonly #steps = new Map<number, GatheredStep>();

  constructor(base: StepBase) {
    this.#base = base;
  }

  /** The steps that workloads take, each pair of heads once. */
  get steps(): readonly GatheredStep[] {
    return [...this.#steps.values()].filter(({ size }) => size > 0);
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
    const key = (from === undefined ? 0 : from.id + 1) * PAIR_FACTOR + to.id;
    let step = this.#steps.get(key);
    if (step === undefined) {
      step = new GatheredStep(this.#base, from, to, { from: fromClass, to: toClass });
      this.#steps.set(key, step);
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
