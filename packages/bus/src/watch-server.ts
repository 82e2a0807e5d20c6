import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { Effect, Message, Moment } from "@ringwall/actor";
import { WatchCreditSchema, WatchFrameSchema, WatchResponseSchema } from "@ringwall/wire";
import type { Names } from "./names.ts";

/** Size that the body of a frame is kept within. */
export const WATCH_FRAME_BYTES = 512 * 1024;
/** Without credit for this long a stream is closed. */
export const WATCH_SILENCE_MS = 10_000;
/** Streams that one instance keeps open unless its parts say otherwise. */
export const WATCH_LIMIT = 256;

const SWEEP_MS = 1000;
const INBOX = /^_INBOX[A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+$/;

/** Body of a frame. */
export type WatchBody = NonNullable<MessageInitShape<typeof WatchFrameSchema>["body"]>;

/** The next frame of a stream. */
export interface WatchNext {
  readonly body: WatchBody;
  /** Revision that the client has after this frame. */
  readonly revision: bigint;
}

/** What a `WatchServer` is made of. */
export interface WatchServerParts<Cursor> {
  readonly names: Names;
  readonly instance: string;
  /** Noun of the operation, for example "workload". */
  readonly noun: string;
  /** Streams kept open at the same time; default `WATCH_LIMIT`. */
  readonly limit?: number;
  /**
   * The next frame of a stream, about `maxBytes` large at most, or undefined when there is nothing
   * now. It moves the cursor. A `resync` body is the last frame of a stream.
   */
  next(cursor: Cursor, maxBytes: number): WatchNext | undefined;
}

interface Watch<Cursor> {
  readonly inbox: string;
  readonly cursor: Cursor;
  seq: bigint;
  credit: number;
  heardMs: number;
}

/**
 * The server's side of streaming verbs, as a reducer within a reducer. It keeps no frames: with
 * credit it asks the source for the next one, so a slow client costs a cursor and no memory. Give
 * `step` every message, call `open` for a request that opens a stream, and `changed` when there may
 * be something new.
 */
export class WatchServer<Cursor> {
  readonly #parts: WatchServerParts<Cursor>;
  readonly #watches = new Map<string, Watch<Cursor>>();
  readonly #listener: string;
  readonly #timer: string;
  readonly #creditSubject: string;
  #opened = 0;

  constructor(parts: WatchServerParts<Cursor>) {
    this.#parts = parts;
    this.#listener = `watch.${parts.noun}`;
    this.#timer = `watch.${parts.noun}`;
    this.#creditSubject = `${parts.names.api("watch", "credit")}.${parts.noun}-${parts.instance}`;
  }

  /** Open streams. */
  get size(): number {
    return this.#watches.size;
  }

  /** Opens a stream: answers the request and begins once there is credit. */
  open(replyTo: string, inbox: string, cursor: Cursor, moment: Moment): Effect[] {
    const refuse = (code: string, message: string): Effect[] => [
      { kind: "reply", to: replyTo, payload: response({ error: { code, message } }) },
    ];
    if (!INBOX.test(inbox)) {
      return refuse("invalid", `inbox "${inbox}" must begin with _INBOX and have no wildcards`);
    }
    const limit = this.#parts.limit ?? WATCH_LIMIT;
    if (this.#watches.size >= limit) {
      return refuse("unavailable", `${limit} streams are open, which is the limit`);
    }
    this.#opened += 1;
    const watchId = `${this.#parts.instance}-${this.#opened}`;
    const heardMs = moment.monotonicMs;
    this.#watches.set(watchId, { inbox, cursor, seq: 0n, credit: 0, heardMs });
    const creditSubject = this.#creditSubject;
    return [{ kind: "reply", to: replyTo, payload: response({ watchId, creditSubject }) }];
  }

  /** Sends what is new to every stream with credit. */
  changed(): Effect[] {
    return [...this.#watches.keys()].flatMap((id) => this.#pump(id));
  }

  /** Takes one message and returns the effects of it. */
  step(message: Message, moment: Moment): Effect[] {
    if (message.kind === "start") {
      const subject = this.#creditSubject;
      return [{ kind: "listen", listener: this.#listener, subject }, this.#sweepTimer()];
    }
    if (message.kind === "timer" && message.id === this.#timer) {
      for (const [id, watch] of this.#watches) {
        if (moment.monotonicMs - watch.heardMs > WATCH_SILENCE_MS) {
          this.#watches.delete(id);
        }
      }
      return [this.#sweepTimer()];
    }
    if (message.kind === "delivery" && message.listener === this.#listener) {
      return this.#credit(message.payload, message.replyTo, moment);
    }
    return [];
  }

  #credit(payload: Uint8Array, replyTo: string | undefined, moment: Moment): Effect[] {
    const answer = (init: MessageInitShape<typeof WatchResponseSchema>): Effect[] =>
      replyTo === undefined ? [] : [{ kind: "reply", to: replyTo, payload: response(init) }];
    let grant: ReturnType<typeof readCredit>;
    try {
      grant = readCredit(payload);
    } catch {
      return answer({ error: { code: "invalid", message: "the credit can't be read" } });
    }
    const watch = this.#watches.get(grant.watchId);
    if (watch === undefined) {
      return answer({
        error: { code: "not_found", message: `stream "${grant.watchId}" is not open here` },
      });
    }
    if (grant.close) {
      this.#watches.delete(grant.watchId);
      return answer({ watchId: grant.watchId });
    }
    watch.heardMs = moment.monotonicMs;
    watch.credit = grant.frames;
    return [...answer({ watchId: grant.watchId }), ...this.#pump(grant.watchId)];
  }

  #pump(id: string): Effect[] {
    const watch = this.#watches.get(id);
    const effects: Effect[] = [];
    while (watch !== undefined && watch.credit > 0) {
      const next = this.#parts.next(watch.cursor, WATCH_FRAME_BYTES);
      if (next === undefined) {
        break;
      }
      watch.seq += 1n;
      watch.credit -= 1;
      const { body, revision } = next;
      const frame = create(WatchFrameSchema, { seq: watch.seq, revision, body });
      const payload = toBinary(WatchFrameSchema, frame);
      effects.push({ kind: "publish", subject: watch.inbox, payload });
      if (body.case === "resync") {
        this.#watches.delete(id);
        break;
      }
    }
    return effects;
  }

  #sweepTimer(): Effect {
    return { kind: "timer", id: this.#timer, delayMs: SWEEP_MS };
  }
}

function readCredit(payload: Uint8Array) {
  return fromBinary(WatchCreditSchema, payload);
}

function response(init: MessageInitShape<typeof WatchResponseSchema>): Uint8Array {
  return toBinary(WatchResponseSchema, create(WatchResponseSchema, init));
}
