import type { Effect, Message, Moment, Reducer } from "@ringwall/actor";

/** What looks at an actor's messages and effects, without changing either. */
export interface Observer {
  takes?(message: Message): void;
  wants?(effects: readonly Effect[]): void;
}

/** A reducer whose messages and effects are looked at. */
export class Observed<R extends Reducer> implements Reducer {
  readonly inner: R;
  readonly #observer: Observer;

  constructor(inner: R, observer: Observer) {
    this.inner = inner;
    this.#observer = observer;
  }

  step(message: Message, moment: Moment): readonly Effect[] {
    this.#observer.takes?.(message);
    const effects = this.inner.step(message, moment);
    if (this.#observer.wants !== undefined) {
      this.#observer.wants(effects.some(isFork) ? effects.flatMap(flatten) : effects);
    }
    return effects;
  }
}

function flatten(effect: Effect): readonly Effect[] {
  return isFork(effect) ? effect.effects.flatMap(flatten) : [effect];
}

function isFork(effect: Effect): effect is Extract<Effect, { readonly kind: "fork" }> {
  return effect.kind === "fork";
}
