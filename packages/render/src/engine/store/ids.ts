/** Hands out small integers and takes them back, so that columns stay dense. */
export class Ids {
  readonly #free: number[] = [];
  #next = 0;

  /** One more than the highest id ever handed out. */
  get bound(): number {
    return this.#next;
  }

  /** Ids in use. */
  get size(): number {
    return this.#next - this.#free.length;
  }

  take(): number {
    return this.#free.pop() ?? this.#next++;
  }

  give(id: number): void {
    this.#free.push(id);
  }
}
