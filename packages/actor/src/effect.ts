import type { Headers } from "./message.ts";

/**
 * What a step asks the outside for. Effects of one step run in order, each after the former was
 * acknowledged; when one fails, `failed` is delivered with its tag and the rest of that step's
 * effects are not run. Chains of different steps do not wait for each other, so a reducer keeps at
 * most one append per subject in flight. Effects without a tag fail with the reader's or the
 * listener's id as tag, or with an empty one.
 *
 * Neighbouring appends without `expect` are sent in a window instead of one by one; whatever
 * follows them waits until all are acknowledged. They may be stored twice when an answer is lost,
 * so their content must not mind.
 */
export type Effect =
  | ForkEffect
  | AppendEffect
  | PublishEffect
  | RequestEffect
  | ReplyEffect
  | ReadLastEffect
  | ReadAtEffect
  | FollowEffect
  | UnfollowEffect
  | StreamInfoEffect
  | TrimEffect
  | ListenEffect
  | UnlistenEffect
  | TimerEffect
  | CancelTimerEffect
  | AgainEffect
  | SpanEffect
  | LogEffect
  | CountEffect
  | GaugeEffect
  | ObserveEffect
  | ReadyEffect;

/** Runs effects as a chain of their own: neither chain waits for or ends with the other. */
export interface ForkEffect {
  readonly kind: "fork";
  readonly effects: readonly Effect[];
}

/**
 * Stores a message in the stream named by its logical name (`CONFIG`, `REGISTRY` for the KV's
 * stream, …). With `expect` it is fenced: the last sequence on `filter` (default: the subject
 * itself; wildcards allowed) must be `sequence`. Answers `appended`, or `failed` with code
 * `fence-lost` (someone else wrote), `too-large`, `denied`, or `unavailable` after the driver has resolved
 * time-outs by reading the subject's last message and comparing `Rw-Write`.
 */
export interface AppendEffect {
  readonly kind: "append";
  readonly tag: string;
  readonly stream: string;
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly expect?: { readonly sequence: number; readonly filter?: string };
  /** Unique id of this write, `<instance>:<counter>`; required with `expect`. */
  readonly write?: string;
  readonly headers?: Headers;
  readonly trace?: string;
}

/** Publishes a core message: at most once, no answer. */
export interface PublishEffect {
  readonly kind: "publish";
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers?: Headers;
  readonly trace?: string;
}

/** Sends a core request. Answers `response`, or `failed` with `no-responders` or `timeout`. */
export interface RequestEffect {
  readonly kind: "request";
  readonly tag: string;
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly timeoutMs: number;
  readonly trace?: string;
}

/** Answers a `request` message; each is answered exactly once. */
export interface ReplyEffect {
  readonly kind: "reply";
  readonly to: string;
  readonly payload: Uint8Array;
}

/** Reads the last message of one subject from the stream's leader. Answers `read`. */
export interface ReadLastEffect {
  readonly kind: "read-last";
  readonly tag: string;
  readonly stream: string;
  readonly subject: string;
}

/** Reads the message at one sequence from the stream's leader. Answers `read`. */
export interface ReadAtEffect {
  readonly kind: "read-at";
  readonly tag: string;
  readonly stream: string;
  readonly sequence: number;
}

/**
 * Starts an ordered reader. Answers `record` for each message in stream order without gaps or
 * repeats within `filters`, and `caught-up` once when everything that was stored at the start has
 * been delivered. `last-per-subject` begins with the last message of every subject. A number is the
 * first sequence wanted. A stream that was re-created or went back answers `reader-lost`, after
 * which the reader is gone. A reader that the server refuses fails as `denied`, once, and is tried
 * again until it is accepted or ended; then it goes on where it was.
 */
export interface FollowEffect {
  readonly kind: "follow";
  readonly reader: string;
  readonly stream: string;
  readonly filters: readonly string[];
  readonly from: number | "all" | "last-per-subject" | "new";
  /** Delivers records with empty payloads: for readers that only need to know what is stored. */
  readonly headersOnly?: true;
}

/** Ends an ordered reader; records that are already in the mailbox still arrive. */
export interface UnfollowEffect {
  readonly kind: "unfollow";
  readonly reader: string;
}

/** Asks for a stream's creation time and sequences. Answers `stream-info`. */
export interface StreamInfoEffect {
  readonly kind: "stream-info";
  readonly tag: string;
  readonly stream: string;
}

/**
 * Deletes the messages of `subject` below `below` (sequence), never the last one, or every message
 * of `subject` when `all` is set. Answers `trimmed`.
 */
export interface TrimEffect {
  readonly kind: "trim";
  readonly tag: string;
  readonly stream: string;
  readonly subject: string;
  readonly below?: number;
  readonly all?: boolean;
}

/**
 * Listens on a core subject: with `queue` one of the group gets each message. One that the server
 * refuses fails as `denied` and is tried again until it is accepted or ended.
 */
export interface ListenEffect {
  readonly kind: "listen";
  readonly listener: string;
  readonly subject: string;
  readonly queue?: string;
}

/** Ends a listener. */
export interface UnlistenEffect {
  readonly kind: "unlisten";
  readonly listener: string;
}

/** Delivers `timer` once after `delayMs`; an earlier one with the same id is replaced. */
export interface TimerEffect {
  readonly kind: "timer";
  readonly id: string;
  readonly delayMs: number;
}

/** Takes back a timer; unknown ids are fine. */
export interface CancelTimerEffect {
  readonly kind: "cancel-timer";
  readonly id: string;
}

/** Delivers `again` after the messages that are in the mailbox now. */
export interface AgainEffect {
  readonly kind: "again";
  readonly tag: string;
}

/** Records a finished span. `trace` is its own traceparent, `parent` the one it continues. */
export interface SpanEffect {
  readonly kind: "span";
  readonly name: string;
  readonly trace: string;
  readonly parent?: string;
  readonly links?: readonly string[];
  readonly startUnixMs: number;
  readonly endUnixMs: number;
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
  readonly failed?: string;
}

/** Writes a structured log line. */
export interface LogEffect {
  readonly kind: "log";
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields?: Readonly<Record<string, string | number | boolean>>;
  readonly trace?: string;
}

/** Adds to a counter. Names and label values come from closed sets. */
export interface CountEffect {
  readonly kind: "count";
  readonly name: string;
  readonly by?: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Sets a gauge. */
export interface GaugeEffect {
  readonly kind: "gauge";
  readonly name: string;
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Records a value of a histogram, in the unit that the name ends with. */
export interface ObserveEffect {
  readonly kind: "observe";
  readonly name: string;
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Says whether the actor serves; `reason` is shown by /readyz. */
export interface ReadyEffect {
  readonly kind: "ready";
  readonly ready: boolean;
  readonly reason?: string;
}
