import { BitSet } from "../id-numbers.ts";

/**
 * Which workloads a watching client has, in one bit each. After a snapshot that is known exactly;
 * after a resume only what was sent since is, and the client is taken to have the rest.
 */
export class ToldIds {
  readonly #exact: boolean;
  /** What the client has if exact, else what it surely does not have. */
  readonly #bits = new BitSet();

  constructor(exact: boolean) {
    this.#exact = exact;
  }

  /** True if the client has the workload, or may have it. */
  mayHave(number: number): boolean {
    return this.#bits.has(number) === this.#exact;
  }

  /** The client was told of the workload. */
  told(number: number): void {
    if (this.#exact) {
      this.#bits.add(number);
    } else {
      this.#bits.delete(number);
    }
  }

  /** The client was told that the workload is gone, or does not have it. */
  untold(number: number): void {
    if (this.#exact) {
      this.#bits.delete(number);
    } else {
      this.#bits.add(number);
    }
  }
}
