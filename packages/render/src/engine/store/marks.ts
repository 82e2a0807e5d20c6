import { Column } from "./column.ts";

const LAST_ROUND = 0x7fff_ffff;

/** A set of ids that is emptied in constant time. */
export class Marks {
  #column = new Column();
  #round = 1;

  clear(): void {
    if (this.#round === LAST_ROUND) {
      this.#column = new Column();
      this.#round = 0;
    }
    this.#round += 1;
  }

  has(id: number): boolean {
    return this.#column.at(id) === this.#round;
  }

  /** Adds an id; false if it was there. */
  add(id: number): boolean {
    if (this.#column.at(id) === this.#round) {
      return false;
    }
    this.#column.put(id, this.#round);
    return true;
  }
}
