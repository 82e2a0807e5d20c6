import type { Effect } from "@ringwall/actor";

/** Effects of one step, gathered from all parts of the registrar. */
export class Outbox {
  #effects: Effect[] = [];

  /** Adds effects one behind the other. An answer that nobody waits for any more ends none of them. */
  push(...effects: Effect[]): void {
    for (const effect of effects) {
      this.#effects.push(effect.kind === "reply" ? { kind: "fork", effects: [effect] } : effect);
    }
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
