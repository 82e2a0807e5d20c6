import type { AgainEffect, CancelTimerEffect, Effect, ForkEffect, TimerEffect } from "./effect.ts";
import type { FailureCode, Message } from "./message.ts";

/** Effects that the outside performs; the others are the runtime's own. */
export type OutsideEffect = Exclude<
  Effect,
  ForkEffect | AgainEffect | TimerEffect | CancelTimerEffect
>;

/** How an effect ended: acknowledged, with the message that answers it if it has one, or failed. */
export type Outcome =
  | { readonly ok: true; readonly message?: Message }
  | { readonly ok: false; readonly code: FailureCode; readonly detail: string };

/** Where a driver puts messages that no single effect answers: records, deliveries, reconnects. */
export interface Inbox {
  deliver(message: Message): void;
  /** True while the mailbox is over its marks; readers pause then. */
  readonly full: boolean;
  /** Calls back once when the mailbox is below its marks again. */
  whenRoom(call: () => void): void;
}

/** Performs effects: on NATS, or in memory for simulation. */
export interface Driver {
  /** Called once before the first effect. */
  attach(inbox: Inbox): void;
  /** Performs one effect and calls `done` exactly once, at once or later. */
  perform(effect: OutsideEffect, done: (outcome: Outcome) => void): void;
  /** Takes no more records or deliveries; what was asked for before is still answered. */
  quiesce(): void;
}

/** The outcome of an effect that has no answer. */
export const DONE: Outcome = { ok: true };

/** A failed outcome. */
export function failure(code: FailureCode, detail: string): Outcome {
  return { ok: false, code, detail };
}
