import type { Effect } from "../effect.ts";
import type { Message } from "../message.ts";
import { EffectFailed } from "./effect-failed.ts";

/** A message that answers an effect by its tag. */
export type Answer = Extract<Message, { readonly tag: string }>;

/** What a task waits for. */
export type Wait =
  /** The answer of one effect. */
  | { readonly kind: "ask"; readonly effect: (tag: string) => Effect }
  /** The end of a chain of effects, or the first of them that fails. */
  | { readonly kind: "chain"; readonly effects: (tag: string) => readonly Effect[] }
  /** The turn of everything else that waits in the mailbox. */
  | { readonly kind: "slice" }
  /** Time. */
  | { readonly kind: "pause"; readonly delayMs: number }
  /** A signal of this name, or time. */
  | { readonly kind: "signal"; readonly name: string; readonly timeoutMs: number };

/** What a task goes on with. */
export type Resumed = Answer | "elapsed" | "signalled";

/**
 * Work over several steps, written in the order in which it happens: it stops at each `yield` and goes
 * on in a later step, inside the reducer and without I/O of its own.
 */
export type Task<Result> = Generator<Wait, Result, Resumed>;

/** Performs one effect and returns its answer; throws EffectFailed. */
export function* ask(effect: (tag: string) => Effect): Task<Answer> {
  return succeeded(yield { kind: "ask", effect });
}

/** Performs effects one after the other; throws EffectFailed at the first that fails. */
export function* chain(effects: (tag: string) => readonly Effect[]): Task<void> {
  succeeded(yield { kind: "chain", effects });
}

/** Lets the rest of the mailbox have its turn. */
export function* slice(): Task<void> {
  yield { kind: "slice" };
}

/** Waits for at least `delayMs`. */
export function* pause(delayMs: number): Task<void> {
  yield { kind: "pause", delayMs };
}

/** Waits for a signal; false when `timeoutMs` passed before. */
export function* signalled(name: string, timeoutMs: number): Task<boolean> {
  return (yield { kind: "signal", name, timeoutMs }) === "signalled";
}

function succeeded(resumed: Resumed): Answer {
  if (typeof resumed === "string") {
    throw new TypeError(`a task that asked was resumed with "${resumed}"`);
  }
  if (resumed.kind === "failed") {
    throw new EffectFailed(resumed.effect, resumed.code, resumed.detail);
  }
  return resumed;
}
