import type { Outcome, OutsideEffect } from "./driver.ts";
import type { AppendEffect, CancelTimerEffect, Effect, TimerEffect } from "./effect.ts";
import type { Message } from "./message.ts";

/** Most unfenced appends of one chain that wait for their acknowledgement at the same time. */
export const APPEND_WINDOW = 256;

/** Most payload bytes of one chain's unfenced appends in flight. */
export const APPEND_WINDOW_BYTES = 8 * 1024 * 1024;

/** What a chain needs from its actor. */
export interface ChainHost {
  perform(effect: OutsideEffect, done: (outcome: Outcome) => void): void;
  deliver(message: Message): void;
  timer(effect: TimerEffect): void;
  cancelTimer(effect: CancelTimerEffect): void;
  fork(effects: readonly Effect[]): void;
  ended(): void;
}

/**
 * Runs the effects of one step in order. Its state is the next effect, the appends in flight and
 * whether one failed; `ended` is called once, when nothing is in flight and nothing is left to run.
 */
export class Chain {
  readonly #host: ChainHost;
  readonly #effects: readonly Effect[];
  #next = 0;
  #inFlight = 0;
  #bytesInFlight = 0;
  #failed = false;
  #running = false;
  #over = false;

  constructor(host: ChainHost, effects: readonly Effect[]) {
    this.#host = host;
    this.#effects = effects;
  }

  /** Runs on until an effect has to be waited for. */
  run(): void {
    if (this.#running) {
      return;
    }
    this.#running = true;
    while (!this.#failed) {
      const effect = this.#effects[this.#next];
      if (effect === undefined || !this.#mayStart(effect)) {
        break;
      }
      this.#next += 1;
      this.#start(effect);
    }
    this.#running = false;
    if (this.#inFlight === 0 && !this.#over) {
      this.#over = true;
      this.#host.ended();
    }
  }

  #mayStart(effect: Effect): boolean {
    if (this.#inFlight === 0) {
      return true;
    }
    return (
      isWindowed(effect) &&
      isWindowed(this.#effects[this.#next - 1]) &&
      this.#inFlight < APPEND_WINDOW &&
      this.#bytesInFlight + effect.payload.length <= APPEND_WINDOW_BYTES
    );
  }

  #start(effect: Effect): void {
    switch (effect.kind) {
      case "again":
        this.#host.deliver({ kind: "again", tag: effect.tag });
        return;
      case "timer":
        this.#host.timer(effect);
        return;
      case "cancel-timer":
        this.#host.cancelTimer(effect);
        return;
      case "fork":
        this.#host.fork(effect.effects);
        return;
      default:
        this.#perform(effect);
    }
  }

  #perform(effect: OutsideEffect): void {
    const bytes = effect.kind === "append" ? effect.payload.length : 0;
    this.#inFlight += 1;
    this.#bytesInFlight += bytes;
    let settled = false;
    this.#host.perform(effect, (outcome) => {
      if (settled) {
        throw new Error(`effect ${effect.kind} was acknowledged twice`);
      }
      settled = true;
      this.#inFlight -= 1;
      this.#bytesInFlight -= bytes;
      if (!outcome.ok) {
        this.#failed = true;
        const { code, detail } = outcome;
        this.#host.deliver({
          kind: "failed",
          tag: tagOf(effect),
          effect: effect.kind,
          code,
          detail,
        });
      } else if (outcome.message !== undefined) {
        this.#host.deliver(outcome.message);
      }
      this.run();
    });
  }
}

function isWindowed(effect: Effect | undefined): effect is AppendEffect {
  return effect?.kind === "append" && effect.expect === undefined;
}

function tagOf(effect: OutsideEffect): string {
  switch (effect.kind) {
    case "append":
    case "request":
    case "read-last":
    case "read-at":
    case "stream-info":
    case "trim":
      return effect.tag;
    case "follow":
    case "unfollow":
      return effect.reader;
    case "listen":
    case "unlisten":
      return effect.listener;
    default:
      return "";
  }
}
