import type { Effect } from "@ringwall/actor";

/** Effects of one step, gathered from all parts of the registrar. */
export class Outbox {
  #effects: Effect[] = [];

  push(...effects: Effect[]): void {
    this.#effects.push(...effects);
  }

  /** Adds effects whose failure must not end the others'. */
  fork(...effects: Effect[]): void {
    if (effects.length > 0) {
      this.#effects.push({ kind: "fork", effects });
    }
  }

  take(): Effect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
