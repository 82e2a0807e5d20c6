import type { Effect } from "@ringwall/actor";

/** Effects that the actor performs itself, or that only tell; they can't fail. */
const CERTAIN = new Set<Effect["kind"]>([
  "timer",
  "cancel-timer",
  "again",
  "span",
  "log",
  "count",
  "gauge",
  "observe",
  "ready",
]);

/**
 * Collects what a step asks for. Effects of one chain wait for each other and end with the first
 * that fails, so what has nothing to do with each other runs in chains of its own.
 */
export class Outbox {
  #effects: Effect[] = [];

  /** Adds one effect that depends on no other. */
  add(effect: Effect): void {
    this.#effects.push(CERTAIN.has(effect.kind) ? effect : { kind: "fork", effects: [effect] });
  }

  /** Adds effects as they are, in front of what comes later. */
  addAll(effects: readonly Effect[]): void {
    this.#effects.push(...effects);
  }

  /** What the step returns. */
  flush(): readonly Effect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
