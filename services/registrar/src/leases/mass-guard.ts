/** Time over which lapses are counted together. */
export const WINDOW_MS = 60_000;

/** Lapses that are never a mass. */
const COUNT_FLOOR = 2;

/** Share of the workloads at the window's start above which lapses are a mass. */
const SHARE = 0.3;

interface Sample {
  readonly atMs: number;
  readonly count: number;
}

/**
 * Tells a mass of lapses from single ones: more than 2 and more than 30 % of the workloads that
 * were there at the window's start. Lapses that are near count before they happen, so that a mass
 * is seen before its first workload is gone.
 */
export class MassGuard {
  #lapses: Sample[] = [];
  #population: Sample[] = [];
  #frozenSinceMs: number | undefined;

  /** Monotonic time of the freeze; undefined if there is none. */
  get frozenSinceMs(): number | undefined {
    return this.#frozenSinceMs;
  }

  get frozen(): boolean {
    return this.#frozenSinceMs !== undefined;
  }

  /**
   * Judges one tick: `due` workloads would lapse now, `near` ones now or within the window, and
   * `population` have not lapsed yet. Only what is due can begin a freeze. Returns what changed.
   */
  judge(
    nowMs: number,
    { due, near, population }: { due: number; near: number; population: number },
  ): "froze" | "thawed" | "same" {
    this.#forget(nowMs);
    this.#population.push({ atMs: nowMs, count: population });
    const lapses = near + this.#lapses.reduce((sum, { count }) => sum + count, 0);
    const atStart = this.#population[0]?.count ?? population;
    const mass = lapses > COUNT_FLOOR && lapses > SHARE * atStart && (this.frozen || due > 0);
    if (mass === this.frozen) {
      return "same";
    }
    this.#frozenSinceMs = mass ? nowMs : undefined;
    return mass ? "froze" : "thawed";
  }

  /** Counts lapses that were let through. */
  lapsed(nowMs: number, count: number): void {
    if (count > 0) {
      this.#lapses.push({ atMs: nowMs, count });
    }
  }

  /** Forgets everything: all leases are new. */
  reset(): void {
    this.#lapses = [];
    this.#population = [];
    this.#frozenSinceMs = undefined;
  }

  #forget(nowMs: number): void {
    const recent = ({ atMs }: Sample) => nowMs - atMs <= WINDOW_MS;
    this.#lapses = this.#lapses.filter(recent);
    this.#population = this.#population.filter(recent);
  }
}
