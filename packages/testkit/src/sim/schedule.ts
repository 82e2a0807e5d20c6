interface Entry {
  readonly order: number;
  readonly call: () => void;
  state: "due" | "called" | "cancelled";
}

/** Fewer cancelled entries than this are not worth sorting the others anew. */
const LEAST_CANCELLED = 256;

/** What is due when in virtual time: earliest first, first scheduled first among equals. */
export class Schedule {
  /** A heap: when an entry is due, and the entry; apart, as an array of nothing but numbers is small. */
  #times: number[] = [];
  #entries: Entry[] = [];
  #nowMs = 0;
  #order = 0;
  /** Entries in the heap that were taken back. */
  #cancelled = 0;

  /** Virtual milliseconds since the beginning. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Entries that are still to come. */
  get size(): number {
    return this.#entries.length - this.#cancelled;
  }

  /** When the next entry is due; undefined if there is none. */
  get nextMs(): number | undefined {
    this.#dropCancelled();
    return this.#times[0];
  }

  /** Calls back after `delayMs`; the result takes it back. */
  after(delayMs: number, call: () => void): () => void {
    this.#order += 1;
    const entry: Entry = { order: this.#order, call, state: "due" };
    this.#up(this.#entries.length, this.#nowMs + Math.max(0, delayMs), entry);
    return () => {
      if (entry.state === "due") {
        entry.state = "cancelled";
        this.#cancelled += 1;
        this.#dropManyCancelled();
      }
    };
  }

  /** Moves time to the next entry and calls it; false if there is none. */
  runNext(): boolean {
    this.#dropCancelled();
    const entry = this.#entries[0];
    if (entry === undefined) {
      return false;
    }
    this.#nowMs = this.#times[0] ?? this.#nowMs;
    this.#dropFirst();
    entry.state = "called";
    entry.call();
    return true;
  }

  /** Moves time on to `atMs` when nothing is due before. */
  moveTo(atMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, atMs);
  }

  #dropCancelled(): void {
    while (this.#entries[0]?.state === "cancelled") {
      this.#cancelled -= 1;
      this.#dropFirst();
    }
  }

  /** Timeouts of requests that were answered would otherwise outnumber what is to come. */
  #dropManyCancelled(): void {
    if (this.#cancelled < LEAST_CANCELLED || 2 * this.#cancelled < this.#entries.length) {
      return;
    }
    const times = this.#times;
    const entries = this.#entries;
    this.#times = [];
    this.#entries = [];
    this.#cancelled = 0;
    for (let at = 0; at < entries.length; at += 1) {
      const atMs = times[at];
      const entry = entries[at];
      if (atMs !== undefined && entry?.state === "due") {
        this.#up(this.#entries.length, atMs, entry);
      }
    }
  }

  #dropFirst(): void {
    const atMs = this.#times.pop();
    const entry = this.#entries.pop();
    if (atMs !== undefined && entry !== undefined && this.#entries.length > 0) {
      this.#down(0, atMs, entry);
    }
  }

  /** Puts an entry at a free place or, as long as it is due before, above it. */
  #up(free: number, atMs: number, entry: Entry): void {
    let at = free;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(atMs, entry, parent)) {
        break;
      }
      this.#move(parent, at);
      at = parent;
    }
    this.#put(at, atMs, entry);
  }

  /** Puts an entry at a free place or, as long as others are due before, below it. */
  #down(free: number, atMs: number, entry: Entry): void {
    let at = free;
    for (let child = 2 * at + 1; child < this.#entries.length; child = 2 * at + 1) {
      const least = this.#isOrdered(child + 1, child) ? child + 1 : child;
      if (this.#isBefore(atMs, entry, least)) {
        break;
      }
      this.#move(least, at);
      at = least;
    }
    this.#put(at, atMs, entry);
  }

  /** True if the entry at `a` is there and due before the one at `b`. */
  #isOrdered(a: number, b: number): boolean {
    const atMs = this.#times[a];
    const entry = this.#entries[a];
    return atMs !== undefined && entry !== undefined && this.#isBefore(atMs, entry, b);
  }

  #isBefore(atMs: number, { order }: Entry, other: number): boolean {
    const otherMs = this.#times[other] ?? 0;
    return atMs === otherMs ? order < (this.#entries[other]?.order ?? 0) : atMs < otherMs;
  }

  #move(from: number, to: number): void {
    const atMs = this.#times[from];
    const entry = this.#entries[from];
    if (atMs !== undefined && entry !== undefined) {
      this.#put(to, atMs, entry);
    }
  }

  #put(at: number, atMs: number, entry: Entry): void {
    this.#times[at] = atMs;
    this.#entries[at] = entry;
  }
}
