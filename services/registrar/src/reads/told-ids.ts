import { BitSet } from "../id-numbers.ts";

/** Whether a watching client has a workload. */
export type Told = "has" | "lacks" | "unknown";

/**
 * Which workloads a watching client has, in two bits each. After a snapshot that is known of all;
 * after a resume only of those that it was told of since.
 */
export class ToldIds {
  readonly #others: Told;
  readonly #has = new BitSet();
  readonly #lacks = new BitSet();

  constructor(others: "lacks" | "unknown") {
    this.#others = others;
  }

  of(number: number): Told {
    if (this.#has.has(number)) {
      return "has";
    }
    return this.#lacks.has(number) ? "lacks" : this.#others;
  }

  /** The client was told of the workload. */
  told(number: number): void {
    this.#has.add(number);
    this.#lacks.delete(number);
  }

  /** The client was told that the workload is gone, or surely does not have it. */
  untold(number: number): void {
    this.#has.delete(number);
    if (this.#others === "unknown") {
      this.#lacks.add(number);
    }
  }
}
