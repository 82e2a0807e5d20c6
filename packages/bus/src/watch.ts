import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { createInbox, type Msg } from "@nats-io/nats-core";
import {
  WatchCreditSchema,
  type WatchFrame,
  WatchFrameSchema,
  type WatchResponse,
  WatchResponseSchema,
} from "@ringwall/wire";
import { api } from "./api.ts";
import type { Bus } from "./connect.ts";
import { BusError } from "./errors.ts";

const WINDOW_FRAMES = 16;
const CREDIT_MS = 2000;
const CREDIT_TIMEOUT_MS = 2000;
const REOPEN_MS = 500;

/** A streaming verb to follow. */
export interface WatchOptions<Request extends DescMessage> {
  readonly noun: string;
  readonly verb: string;
  readonly requestSchema: Request;
  /** The request for an inbox; `resumeRevision` is 0 for a snapshot. */
  request(inbox: string, resumeRevision: bigint): MessageInitShape<Request>;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

/**
 * Follows a streaming verb. Frames come in order; when the server goes away, falls silent or a frame
 * is missing, the stream is opened again at the last revision, with another instance if need be. A
 * `resync` frame says that what was known is void: a snapshot follows. Throws BusError when the
 * stream can't be opened for the first time, or `closed` with the words of a refusal.
 */
export async function* watch<Request extends DescMessage>(
  bus: Bus,
  options: WatchOptions<Request>,
): AsyncGenerator<WatchFrame, void, void> {
  let revision = 0n;
  let opened = false;
  while (options.signal?.aborted !== true) {
    const stream = new Stream(bus, options.signal);
    try {
      await stream.open(options, revision);
      opened = true;
      for (;;) {
        const frame = await stream.next();
        if (frame === undefined) {
          break;
        }
        revision = frame.body.case === "resync" ? 0n : frame.revision;
        yield frame;
        if (frame.body.case === "resync") {
          break;
        }
      }
    } catch (error) {
      if (!opened) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, REOPEN_MS));
    } finally {
      stream.close();
    }
  }
}

/** One opening of a streaming verb. */
class Stream {
  readonly #bus: Bus;
  readonly #inbox: string;
  readonly #frames: WatchFrame[] = [];
  #wake: () => void = () => undefined;
  #seq = 0n;
  #broken = false;
  #answer: WatchResponse | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #unsubscribe: () => void;

  constructor(bus: Bus, signal: AbortSignal | undefined) {
    this.#bus = bus;
    const onAbort = () => this.#break();
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#inbox = createInbox(bus.inboxPrefix);
    const subscription = bus.nc.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error === null) {
          this.#take(message);
        } else {
          this.#break();
        }
      },
    });
    this.#unsubscribe = () => {
      signal?.removeEventListener("abort", onAbort);
      subscription.unsubscribe();
    };
  }

  async open<Request extends DescMessage>(
    options: WatchOptions<Request>,
    revision: bigint,
  ): Promise<void> {
    const { noun, verb, requestSchema } = options;
    const request = options.request(this.#inbox, revision);
    const calls = api(this.#bus);
    this.#answer = await calls.call(noun, verb, requestSchema, WatchResponseSchema, request);
    if (this.#answer.error !== undefined) {
      throw new BusError("closed", `${noun} ${verb}: ${this.#answer.error.message}`);
    }
    void this.#grant();
    this.#timer = setInterval(() => void this.#grant(), CREDIT_MS);
  }

  /** The next frame; undefined when the stream is broken or ended. */
  async next(): Promise<WatchFrame | undefined> {
    while (this.#frames.length === 0 && !this.#broken) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const frame = this.#frames.shift();
    if (frame !== undefined && this.#frames.length === 0) {
      void this.#grant();
    }
    return frame;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#unsubscribe();
    if (this.#answer?.creditSubject && this.#bus.connected) {
      this.#bus.nc.publish(this.#answer.creditSubject, this.#credit(true));
    }
  }

  #take(message: Msg): void {
    const frame = fromBinary(WatchFrameSchema, message.data);
    if (frame.seq !== this.#seq + 1n) {
      this.#break();
      return;
    }
    this.#seq = frame.seq;
    this.#frames.push(frame);
    this.#wake();
  }

  async #grant(): Promise<void> {
    const subject = this.#answer?.creditSubject;
    if (subject === undefined || this.#broken) {
      return;
    }
    try {
      const answer = await this.#bus.nc.request(subject, this.#credit(false), {
        timeout: CREDIT_TIMEOUT_MS,
      });
      if (fromBinary(WatchResponseSchema, answer.data).error !== undefined) {
        this.#break();
      }
    } catch {
      // Nobody takes the credit: the instance that served this stream is gone.
      this.#break();
    }
  }

  #credit(close: boolean): Uint8Array {
    const frames = Math.max(0, WINDOW_FRAMES - this.#frames.length);
    const watchId = this.#answer?.watchId ?? "";
    return toBinary(WatchCreditSchema, create(WatchCreditSchema, { watchId, frames, close }));
  }

  #break(): void {
    this.#broken = true;
    this.#wake();
  }
}
