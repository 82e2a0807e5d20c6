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
    this.#observer.wants?.(effects.flatMap(flatten));
    return effects;
  }
}

function flatten(effect: Effect): readonly Effect[] {
  return effect.kind === "fork" ? effect.effects.flatMap(flatten) : [effect];
}
