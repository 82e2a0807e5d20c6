/** Time between two looks at the leases. */
export const TICK_MS = 1_000;

/** A longer time between two looks means that the process stood still. */
export const TICK_GAP_MAX_MS = 5_000;

/** After this time without any word from the bus, silence says nothing about workloads. */
export const BLIND_AFTER_MS = 10_000;

/** What the time since the last look says. */
export type TickJudgement =
  | { readonly kind: "usual" }
  /** The bus is silent: nothing may be concluded. */
  | { readonly kind: "blind" }
  /** Time passed in which no heartbeat could be heard: everybody gets a full lease. */
  | { readonly kind: "regrant"; readonly reason: "pause" | "blind" };

/** Tells the time in which heartbeats could have been heard from time in which they could not. */
export class LeaseClock {
  #tickMs: number;
  #evidenceMs: number;
  #blind = false;

  constructor(nowMs: number) {
    this.#tickMs = nowMs;
    this.#evidenceMs = nowMs;
  }

  /** Something came from the bus. */
  evidence(nowMs: number): void {
    this.#evidenceMs = nowMs;
  }

  tick(nowMs: number): TickJudgement {
    const paused = nowMs - this.#tickMs > TICK_GAP_MAX_MS;
    const wasBlind = this.#blind;
    this.#tickMs = nowMs;
    this.#blind = nowMs - this.#evidenceMs > BLIND_AFTER_MS;
    if (this.#blind) {
      return { kind: "blind" };
    }
    if (wasBlind) {
      return { kind: "regrant", reason: "blind" };
    }
    return paused ? { kind: "regrant", reason: "pause" } : { kind: "usual" };
  }
}
