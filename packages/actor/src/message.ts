/** Message headers. Names are case-sensitive; one value each. */
export type Headers = Readonly<Record<string, string>>;

/** A stored message. */
export interface StoredRecord {
  readonly subject: string;
  /** Sequence in the stream, from 1. */
  readonly sequence: number;
  readonly payload: Uint8Array;
  readonly headers: Headers;
  /** When it was stored, Unix milliseconds. */
  readonly timeUnixMs: number;
}

/** Why an effect failed. */
export type FailureCode =
  | "fence-lost"
  | "too-large"
  | "denied"
  | "unavailable"
  | "no-responders"
  | "timeout"
  | "not-found";

/** What an actor's mailbox can hold. `start` is the first message of every life. */
export type Message =
  | { readonly kind: "start" }
  /** The bus is reachable again after it was away; readers go on by themselves. */
  | { readonly kind: "reconnected" }
  /** The process is about to end: give up slots, say goodbye. */
  | { readonly kind: "stop" }
  | { readonly kind: "record"; readonly reader: string; readonly record: StoredRecord }
  | { readonly kind: "caught-up"; readonly reader: string; readonly sequence: number }
  | { readonly kind: "reader-lost"; readonly reader: string; readonly detail: string }
  /** A core message on a listener. Requests carry `replyTo`, to be answered by a reply effect. */
  | {
      readonly kind: "delivery";
      readonly listener: string;
      readonly subject: string;
      readonly payload: Uint8Array;
      readonly headers: Headers;
      readonly replyTo?: string;
      readonly trace?: string;
    }
  | { readonly kind: "appended"; readonly tag: string; readonly sequence: number }
  | { readonly kind: "response"; readonly tag: string; readonly payload: Uint8Array }
  | { readonly kind: "read"; readonly tag: string; readonly record: StoredRecord | undefined }
  | {
      readonly kind: "stream-info";
      readonly tag: string;
      readonly createdUnixNs: bigint;
      readonly firstSequence: number;
      readonly lastSequence: number;
    }
  | { readonly kind: "trimmed"; readonly tag: string }
  | {
      readonly kind: "failed";
      readonly tag: string;
      readonly effect: string;
      readonly code: FailureCode;
      readonly detail: string;
    }
  | { readonly kind: "timer"; readonly id: string }
  | { readonly kind: "again"; readonly tag: string };
