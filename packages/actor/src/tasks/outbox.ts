import type { Effect } from "../effect.ts";

/** Effects that never fail, so that nothing after them is at risk. */
const CERTAIN: ReadonlySet<Effect["kind"]> = new Set([
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
 * Collects what a step asks for. Whatever may fail runs in a chain of its own, so that it neither
 * waits for nor ends what has nothing to do with it.
 */
export class Outbox {
  #effects: Effect[] = [];

  /** Adds one effect that depends on no other. */
  add(effect: Effect): void {
    this.#effects.push(CERTAIN.has(effect.kind) ? effect : { kind: "fork", effects: [effect] });
  }

  /** Adds effects of which each waits for the one before. */
  chain(effects: readonly Effect[]): void {
    this.#effects.push({ kind: "fork", effects });
  }

  /** Adds the effects of another reducer as they are, in front of what comes later. */
  pass(effects: readonly Effect[]): void {
    this.#effects.push(...effects);
  }

  /** Adds to a counter. */
  count(name: string, labels: Readonly<Record<string, string>> = {}, by = 1): void {
    this.#effects.push({ kind: "count", name, by, labels });
  }

  /** Writes a log line. */
  log(
    level: "debug" | "info" | "warn" | "error",
    message: string,
    fields: Readonly<Record<string, string | number | boolean>> = {},
  ): void {
    this.#effects.push({ kind: "log", level, message, fields });
  }

  /** What the step returns; the outbox is empty afterwards. */
  take(): readonly Effect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
