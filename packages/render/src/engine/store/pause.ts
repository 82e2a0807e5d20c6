/** Counts work and says when it is time to let others have their turn. */
export class Pause {
  readonly #every: number;
  #done = 0;

  /** Pauses after each so many units of work. */
  constructor(every: number) {
    this.#every = every;
  }

  /** Counts work about to be done; true if a pause is due before it. */
  isDue(units: number): boolean {
    this.#done += units;
    if (this.#done <= this.#every) {
      return false;
    }
    this.#done = units;
    return true;
  }
}
