import { grown, withRoom } from "./int-lists.ts";

const INITIAL_LENGTH = 64;

/** A growing column of 32-bit integers, one for each id. What was never put reads as 0. */
export class Column {
  #values = new Int32Array(INITIAL_LENGTH);

  /** Makes room for so many ids, known beforehand. */
  reserve(length: number): void {
    this.#values = withRoom(this.#values, length);
  }

  at(index: number): number {
    return this.#values[index] ?? 0;
  }

  put(index: number, value: number): void {
    if (index >= this.#values.length) {
      this.#values = grown(this.#values, index + 1);
    }
    this.#values[index] = value;
  }

  /** Adds to a value and returns the sum. */
  add(index: number, amount: number): number {
    const sum = this.at(index) + amount;
    this.put(index, sum);
    return sum;
  }
}
