/** How far a workload's lease has lapsed. */
export type LeaseStage = "live" | "stale" | "expired";

/** One workload's lease. */
export interface Lease {
  /** Monotonic time of the last sign of life, or of the grant. */
  readonly heardMs: number;
  readonly stage: LeaseStage;
}

/**
 * Leases in the order in which their workloads were last heard, so that a look at the silent ones
 * costs nothing for the others.
 */
export class LeaseTable {
  readonly #leases = new Map<string, Lease>();
  readonly #expired = new Set<string>();
  readonly #counts: Record<LeaseStage, number> = { live: 0, stale: 0, expired: 0 };

  get size(): number {
    return this.#leases.size + this.#expired.size;
  }

  /** Leases in a stage. */
  count(stage: LeaseStage): number {
    return this.#counts[stage];
  }

  /** Stage of a workload's lease; undefined if it has none. */
  stage(id: string): LeaseStage | undefined {
    return this.#expired.has(id) ? "expired" : this.#leases.get(id)?.stage;
  }

  /** Gives a full lease in the given stage. */
  grant(id: string, stage: LeaseStage, nowMs: number): void {
    this.drop(id);
    this.#counts[stage] += 1;
    if (stage === "expired") {
      this.#expired.add(id);
    } else {
      this.#leases.set(id, { heardMs: nowMs, stage });
    }
  }

  /** Takes a sign of life: the lease is live and full again. */
  hear(id: string, nowMs: number): void {
    this.grant(id, "live", nowMs);
  }

  /** Moves a lease to a later stage. */
  lapse(id: string, stage: "stale" | "expired"): void {
    const lease = this.#leases.get(id);
    if (lease === undefined) {
      return;
    }
    this.#counts[lease.stage] -= 1;
    this.#counts[stage] += 1;
    if (stage === "expired") {
      this.#leases.delete(id);
      this.#expired.add(id);
    } else {
      this.#leases.set(id, { ...lease, stage });
    }
  }

  drop(id: string): void {
    const stage = this.stage(id);
    if (stage !== undefined) {
      this.#counts[stage] -= 1;
      this.#leases.delete(id);
      this.#expired.delete(id);
    }
  }

  clear(): void {
    this.#leases.clear();
    this.#expired.clear();
    this.#counts.live = 0;
    this.#counts.stale = 0;
    this.#counts.expired = 0;
  }

  /** Leases that have not expired and were silent for longer than `silenceMs`, longest first. */
  *silent(nowMs: number, silenceMs: number): IterableIterator<readonly [string, Lease]> {
    for (const entry of this.#leases) {
      if (nowMs - entry[1].heardMs <= silenceMs) {
        return;
      }
      yield entry;
    }
  }

  /** Shortens every silence to at most `silenceMs`: 0 grants everybody a full lease. */
  forgive(nowMs: number, silenceMs: number): void {
    const heardMs = nowMs - silenceMs;
    for (const [id, lease] of this.silent(nowMs, silenceMs)) {
      this.#leases.set(id, { ...lease, heardMs });
    }
  }
}
