import type { Effect, FailureCode, Message, StoredRecord } from "@ringwall/actor";

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
  /** A signal of this name, or time. */
  | { readonly kind: "signal"; readonly name: string; readonly timeoutMs: number };

/** What a task goes on with. */
export type Resumed = Answer | "elapsed" | "signalled";

/**
 * Work over several steps, written in the order in which it happens: it stops at each `yield` and goes
 * on in a later step, inside the reducer and without I/O of its own.
 */
export type Task<Result> = Generator<Wait, Result, Resumed>;

/** An effect of a task failed. */
export class EffectFailed extends Error {
  override readonly name = "EffectFailed";
  readonly code: FailureCode;

  constructor(effect: string, code: FailureCode, detail: string) {
    super(`${effect} failed (${code}): ${detail}`);
    this.code = code;
  }
}

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

/** Waits for a signal; false when `timeoutMs` passed before. */
export function* signalled(name: string, timeoutMs: number): Task<boolean> {
  return (yield { kind: "signal", name, timeoutMs }) === "signalled";
}

/** Waits. */
export function* pause(delayMs: number): Task<void> {
  yield { kind: "signal", name: "", timeoutMs: delayMs };
}

/** Reads the last message of a subject from the stream's leader. */
export function* readLast(stream: string, subject: string): Task<StoredRecord | undefined> {
  const answer = yield* ask((tag) => ({ kind: "read-last", tag, stream, subject }));
  return answer.kind === "read" ? answer.record : undefined;
}

/** Reads the message at one sequence from the stream's leader. */
export function* readAt(stream: string, sequence: number): Task<StoredRecord | undefined> {
  const answer = yield* ask((tag) => ({ kind: "read-at", tag, stream, sequence }));
  return answer.kind === "read" ? answer.record : undefined;
}

/** What a stream says of itself. */
export interface StreamState {
  readonly createdUnixNs: bigint;
  readonly lastSequence: number;
}

/** Asks for a stream's creation time and last sequence. */
export function* streamState(stream: string): Task<StreamState> {
  const answer = yield* ask((tag) => ({ kind: "stream-info", tag, stream }));
  if (answer.kind !== "stream-info") {
    throw new TypeError(`stream-info was answered by ${answer.kind}`);
  }
  return answer;
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
