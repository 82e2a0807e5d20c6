import type { Effect, FailureCode, Message, StoredRecord } from "@ringwall/actor";

/** A message that answers an effect by its tag. */
export type Answer = Extract<Message, { readonly tag: string }>;

/** What a task waits for. */
export type Wait =
  /** One effect; the task goes on with the message that carries its tag. */
  | { readonly kind: "ask"; readonly effect: (tag: string) => Effect }
  /** The other messages of the mailbox. */
  | { readonly kind: "slice" }
  /** Time. */
  | { readonly kind: "pause"; readonly delayMs: number }
  /** A signal of this name, or the end of `timeoutMs`. */
  | { readonly kind: "signal"; readonly name: string; readonly timeoutMs: number };

/** What a task goes on with. */
export type Resumed = Answer | "elapsed" | "signalled";

/**
 * Work that takes several steps, written in the order in which it happens: it stops at every `yield`
 * and goes on in a later step. It lives inside the reducer and does no I/O of its own.
 */
export type Task<Result> = Generator<Wait, Result, Resumed>;

/** An effect of a task did not succeed. */
export class EffectFailed extends Error {
  readonly code: FailureCode;

  constructor(effect: string, code: FailureCode, detail: string) {
    super(`${effect} failed (${code}): ${detail}`);
    this.name = "EffectFailed";
    this.code = code;
  }
}

/** Performs one effect and returns its answer; throws EffectFailed. */
export function* ask(effect: (tag: string) => Effect): Task<Answer> {
  const answer = yield { kind: "ask", effect };
  if (typeof answer === "string") {
    throw new TypeError(`a task that asked was resumed with "${answer}"`);
  }
  if (answer.kind === "failed") {
    throw new EffectFailed(answer.effect, answer.code, answer.detail);
  }
  return answer;
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

/** Reads the last message of a subject from the stream's leader. */
export function* readLast(stream: string, subject: string): Task<StoredRecord | undefined> {
  const answer = yield* ask((tag) => ({ kind: "read-last", tag, stream, subject }));
  return answer.kind === "read" ? answer.record : undefined;
}

/** Reads the message at a sequence from the stream's leader. */
export function* readAt(stream: string, sequence: number): Task<StoredRecord | undefined> {
  const answer = yield* ask((tag) => ({ kind: "read-at", tag, stream, sequence }));
  return answer.kind === "read" ? answer.record : undefined;
}

/** What a stream says of itself. */
export interface StreamState {
  readonly createdUnixNs: bigint;
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/** Asks for a stream's creation time and sequences. */
export function* streamState(stream: string): Task<StreamState> {
  const answer = yield* ask((tag) => ({ kind: "stream-info", tag, stream }));
  if (answer.kind !== "stream-info") {
    throw new TypeError(`stream-info was answered by ${answer.kind}`);
  }
  return answer;
}

/** What to append. */
export interface Write {
  readonly stream: string;
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** Last sequence of the subject; the write is then fenced and needs a `write` id. */
  readonly fence?: { readonly sequence: number; readonly write: string };
  readonly trace?: string;
}

/** Appends and returns the sequence; throws EffectFailed, `fence-lost` when someone else wrote. */
export function* append(write: Write): Task<number> {
  const { stream, subject, payload, headers, fence, trace } = write;
  const answer = yield* ask((tag) => ({
    kind: "append",
    tag,
    stream,
    subject,
    payload,
    headers,
    ...(fence === undefined ? {} : { expect: { sequence: fence.sequence }, write: fence.write }),
    ...(trace === undefined ? {} : { trace }),
  }));
  if (answer.kind !== "appended") {
    throw new TypeError(`append was answered by ${answer.kind}`);
  }
  return answer.sequence;
}
