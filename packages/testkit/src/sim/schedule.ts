interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly call: () => void;
  cancelled: boolean;
}

/** What is due when in virtual time: earliest first, first scheduled first among equals. */
export class Schedule {
  readonly #heap: Entry[] = [];
  #nowMs = 0;
  #order = 0;
  #live = 0;

  /** Virtual milliseconds since the beginning. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Entries that are still to come. */
  get size(): number {
    return this.#live;
  }

  /** When the next entry is due; undefined if there is none. */
  get nextMs(): number | undefined {
    this.#dropCancelled();
    return this.#heap[0]?.atMs;
  }

  /** Calls back after `delayMs`; the result takes it back. */
  after(delayMs: number, call: () => void): () => void {
    this.#order += 1;
    const atMs = this.#nowMs + Math.max(0, delayMs);
    const entry: Entry = { atMs, order: this.#order, call, cancelled: false };
    this.#heap.push(entry);
    this.#up(this.#heap.length - 1);
    this.#live += 1;
    return () => {
      if (!entry.cancelled) {
        entry.cancelled = true;
        this.#live -= 1;
      }
    };
  }

  /** Moves time to the next entry and calls it; false if there is none. */
  runNext(): boolean {
    this.#dropCancelled();
    const entry = this.#pop();
    if (entry === undefined) {
      return false;
    }
    entry.cancelled = true;
    this.#live -= 1;
    this.#nowMs = entry.atMs;
    entry.call();
    return true;
  }

  /** Moves time on to `atMs` when nothing is due before. */
  moveTo(atMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, atMs);
  }

  #dropCancelled(): void {
    while (this.#heap[0]?.cancelled === true) {
      this.#pop();
    }
  }

  #pop(): Entry | undefined {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (first !== undefined && last !== undefined && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#down(0);
    }
    return first;
  }

  #up(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) {
        return;
      }
      this.#swap(at, parent);
      at = parent;
    }
  }

  #down(from: number): void {
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let least = this.#before(left, at) ? left : at;
      least = this.#before(right, least) ? right : least;
      if (least === at) {
        return;
      }
      this.#swap(at, least);
      at = least;
    }
  }

  #before(a: number, b: number): boolean {
    const [left, right] = [this.#heap[a], this.#heap[b]];
    if (left === undefined || right === undefined) {
      return false;
    }
    return left.atMs === right.atMs ? left.order < right.order : left.atMs < right.atMs;
  }

  #swap(a: number, b: number): void {
    const [left, right] = [this.#heap[a], this.#heap[b]];
    if (left !== undefined && right !== undefined) {
      this.#heap[a] = right;
      this.#heap[b] = left;
    }
  }
}
