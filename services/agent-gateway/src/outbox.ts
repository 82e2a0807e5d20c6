import type { Effect } from "@ringwall/actor";

/** Collects the effects of one step. */
export class Outbox {
  #effects: Effect[] = [];

  /**
   * Adds an effect that is done as soon as it is sent. An answer that nobody waits for any more ends
   * nothing that comes after it.
   */
  add(effect: Effect): void {
    this.#effects.push(effect.kind === "reply" ? { kind: "fork", effects: [effect] } : effect);
  }

  /** Adds an effect that is answered later; nothing else of the step waits for it. */
  fork(effect: Effect): void {
    this.#effects.push({ kind: "fork", effects: [effect] });
  }

  /** Adds to a counter. */
  count(name: string, labels?: Readonly<Record<string, string>>, by = 1): void {
    this.#effects.push(
      labels === undefined ? { kind: "count", name, by } : { kind: "count", name, by, labels },
    );
  }

  /** What was collected; the outbox is empty afterwards. */
  take(): readonly Effect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
