import type { BodyChanges, BodyStep, Head } from "../body-source.ts";
import type { PolicyClass } from "./bodies/policy-class.ts";

/** Workloads that take the same step, while they are gathered. */
export interface GatheredStep {
  readonly from: Head | undefined;
  readonly to: Head;
  readonly fromClass: PolicyClass | undefined;
  readonly toClass: PolicyClass;
  /** Numbers of workloads. */
  readonly workloads: number[];
}

/** Gathers workloads by the step that they take from one body to another. */
export class StepGatherer {
  readonly #steps = new Map<string, GatheredStep>();
  /** The step last used, since most workloads of a cell take one. */
  #last: GatheredStep | undefined;

  /** The steps, each pair of bodies once. */
  get steps(): readonly GatheredStep[] {
    return [...this.#steps.values()].filter(({ workloads }) => workloads.length > 0);
  }

  /** The step between two classes' heads; undefined if nothing changes. */
  stepOf(
    fromClass: PolicyClass | undefined,
    from: Head | undefined,
    toClass: PolicyClass,
  ): GatheredStep | undefined {
    const last = this.#last;
    if (last !== undefined && last.from === from && last.toClass === toClass) {
      return last;
    }
    const to = toClass.head;
    if (to === undefined) {
      return undefined;
    }
    const toText = textOf(to);
    const fromText = from === undefined ? "" : textOf(from);
    if (fromText === toText) {
      return undefined;
    }
    const key = `${fromText}\n${toText}`;
    let step = this.#steps.get(key);
    if (step === undefined) {
      step = { from, to, fromClass, toClass, workloads: [] };
      this.#steps.set(key, step);
    }
    this.#last = step;
    return step;
  }
}

/** Equal for heads that say the same. */
function textOf(head: Head): string {
  const what = head.kind === "body" ? head.digest : `refused ${head.reason}`;
  return `${what} ${head.mode} ${head.weaker}`;
}

/** What makes steps readable. */
export interface ChangesBase {
  readonly steps: readonly GatheredStep[];
  readonly removed: readonly string[];
  readonly skippedRows: number;
  readonly nameOf: (workload: number) => string;
  readonly encode: (from: PolicyClass, to: PolicyClass) => Uint8Array;
}

/** The changes of one flush. Names are looked up and deltas encoded when they are asked for. */
export class GatheredChanges implements BodyChanges {
  readonly steps: readonly BodyStep[];
  readonly removed: readonly string[];
  readonly skippedRows: number;

  constructor({ steps, removed, skippedRows, nameOf, encode }: ChangesBase) {
    this.steps = steps.map((step) => new EncodedStep(step, nameOf, encode));
    this.removed = removed;
    this.skippedRows = skippedRows;
  }

  get heads(): ReadonlyMap<string, Head> {
    const heads = new Map<string, Head>();
    for (const { to, workloads } of this.steps) {
      for (const workload of workloads) {
        heads.set(workload, to);
      }
    }
    return heads;
  }
}

class EncodedStep implements BodyStep {
  readonly from: Head | undefined;
  readonly to: Head;
  readonly #step: GatheredStep;
  readonly #nameOf: (workload: number) => string;
  readonly #encode: (from: PolicyClass, to: PolicyClass) => Uint8Array;
  #workloads: readonly string[] | undefined;
  #delta: Uint8Array | undefined;

  constructor(
    step: GatheredStep,
    nameOf: (workload: number) => string,
    encode: (from: PolicyClass, to: PolicyClass) => Uint8Array,
  ) {
    this.from = step.from;
    this.to = step.to;
    this.#step = step;
    this.#nameOf = nameOf;
    this.#encode = encode;
  }

  get workloads(): readonly string[] {
    this.#workloads ??= this.#step.workloads.map(this.#nameOf);
    return this.#workloads;
  }

  delta(): Uint8Array | undefined {
    const { fromClass, toClass } = this.#step;
    if (this.from?.kind === "body" && this.to.kind === "body" && fromClass !== undefined) {
      this.#delta ??= this.#encode(fromClass, toClass);
    }
    return this.#delta;
  }
}
