/** Longest time that a read waits for its revision. */
export const REVISION_WAIT_MS = 5_000;

/** Most reads that wait at the same time. */
const WAITERS_MAX = 10_000;

interface Waiter {
  readonly revision: number;
  readonly untilMs: number;
  readonly run: () => void;
  readonly expire: () => void;
}

/** Reads that wait until the fold has reached a revision. */
export class RevisionWaiters {
  #waiters: Waiter[] = [];

  /** Number of reads that wait. */
  get size(): number {
    return this.#waiters.length;
  }

  /** Adds a read; the oldest gives way where too many wait. */
  add(revision: number, nowMs: number, run: () => void, expire: () => void): void {
    this.#waiters.push({ revision, untilMs: nowMs + REVISION_WAIT_MS, run, expire });
    if (this.#waiters.length > WAITERS_MAX) {
      this.#waiters.shift()?.expire();
    }
  }

  /** Runs those whose revision is reached. */
  reached(revision: number): void {
    if (this.#waiters.length === 0) {
      return;
    }
    const ready = this.#waiters.filter((waiter) => waiter.revision <= revision);
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision);
    for (const waiter of ready) {
      waiter.run();
    }
  }

  /** Ends those that waited too long. */
  expire(nowMs: number): void {
    const late = this.#waiters.filter((waiter) => waiter.untilMs <= nowMs);
    this.#waiters = this.#waiters.filter((waiter) => waiter.untilMs > nowMs);
    for (const waiter of late) {
      waiter.expire();
    }
  }
}
