import { AckPolicy, type ConsumerConfig, DeliverPolicy } from "@nats-io/jetstream";
import { createInbox, type Msg, nanos, type Subscription } from "@nats-io/nats-core";
import type { FollowEffect, Inbox, StoredRecord } from "@ringwall/actor";
import type { Bus } from "../connect.ts";
import { isDenied, isStreamNotFound } from "../errors.ts";
import { fromWire, HEADER } from "./headers.ts";
import { type StreamState, streamState } from "./read.ts";
import { Trail } from "./trail.ts";

const HEARTBEAT_MS = 1000;
/** Without a message or heartbeat for this long the consumer is made anew. */
const SILENCE_MS = 3500;
const INACTIVE_MS = 30_000;
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 2000;
/** Pause before what the server refused is tried again: permissions are mended live. */
const REFUSED_MS = 5000;

/** What a reader needs beside the bus. */
export interface ReaderHost {
  readonly inbox: Inbox;
  /** Name for the next consumer; consumers are never reused. */
  consumerName(): string;
  /** The reader is gone: it was lost. */
  lost(): void;
}

type State =
  | { readonly kind: "starting" }
  | { readonly kind: "following"; readonly consumer: string; readonly subscription: Subscription }
  | { readonly kind: "ended" };

/**
 * Delivers a stream's messages in order, each once, whatever happens to the connection, the server
 * or the consumer. It owns one push consumer at a time without acknowledgements; a gap in the
 * delivery count, missed heartbeats or a reconnect end that consumer, and the next begins behind
 * the last message that was delivered. Before it goes on it makes sure that the stream is still the
 * one that was read: created at the same time, not shorter, and with what it delivered last.
 */
export class OrderedReader {
  readonly #bus: Bus;
  readonly #effect: FollowEffect;
  readonly #host: ReaderHost;
  readonly #stream: string;
  #state: State = { kind: "starting" };
  /** The first successful look at the stream. */
  #origin: StreamState | undefined;
  readonly #trail = new Trail();
  #delivered = 0;
  /** Next sequence wanted; undefined until the first message when reading last-per-subject. */
  #next: number | undefined;
  #deliveryCount = 0;
  #caughtUp = false;
  #heardMs = 0;
  #retryMs = RETRY_MIN_MS;
  #timer: NodeJS.Timeout | undefined;
  /** Counts beginnings, so that one that was overtaken notices. */
  #life = 0;
  #heldBack = false;
  #problem: string | undefined;

  constructor(bus: Bus, effect: FollowEffect, host: ReaderHost) {
    this.#bus = bus;
    this.#effect = effect;
    this.#host = host;
    this.#stream = bus.names.stream(effect.stream);
    this.#next = typeof effect.from === "number" ? Math.max(1, effect.from) : undefined;
    void this.#start();
  }

  /** Why nothing is delivered although the server answers: it refuses. It is asked again. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Begins anew behind the last delivered message, for example after a reconnect. */
  restart(): void {
    if (this.#state.kind !== "ended") {
      this.#leaveConsumer();
      clearTimeout(this.#timer);
      this.#state = { kind: "starting" };
      this.#retryMs = RETRY_MIN_MS;
      void this.#start();
    }
  }

  /** Makes the consumer anew if nothing was heard of it for too long. */
  checkSilence(nowMs: number): void {
    if (this.#state.kind === "following" && nowMs - this.#heardMs > SILENCE_MS) {
      this.restart();
    }
  }

  /** Ends the reader without a message. */
  end(): void {
    this.#leaveConsumer();
    clearTimeout(this.#timer);
    this.#state = { kind: "ended" };
  }

  async #start(): Promise<void> {
    this.#life += 1;
    const life = this.#life;
    const overtaken = () => this.#state.kind === "ended" || this.#life !== life;
    try {
      const problem = await this.#open(overtaken);
      if (overtaken()) {
        return;
      }
      this.#problem = undefined;
      if (problem !== undefined) {
        this.#lose(problem);
      }
    } catch (error) {
      if (overtaken()) {
        return;
      }
      if (isStreamNotFound(error)) {
        this.#lose(`stream ${this.#stream} does not exist`);
        return;
      }
      if (isDenied(error)) {
        this.#refused(error);
        return;
      }
      this.#retryMs = Math.min(RETRY_MAX_MS, this.#retryMs * 2);
      this.#again(this.#retryMs * (0.5 + Math.random() / 2));
    }
  }

  #again(afterMs: number): void {
    this.#leaveConsumer();
    clearTimeout(this.#timer);
    this.#state = { kind: "starting" };
    // What is still on its way is of the beginning before.
    this.#life += 1;
    this.#timer = setTimeout(() => void this.#start(), afterMs);
  }

  /** Opens a consumer; returns why the reader is lost if it is. */
  async #open(overtaken: () => boolean): Promise<string | undefined> {
    const { state: before, problem } = await this.#look();
    if (problem !== undefined || overtaken()) {
      return problem;
    }
    const first = this.#origin === undefined;
    this.#origin ??= before;
    if (this.#effect.from === "new") {
      this.#next ??= before.lastSequence + 1;
    }
    const name = this.#host.consumerName();
    const deliver = createInbox(this.#bus.inboxPrefix);
    this.#deliveryCount = 0;
    this.#heardMs = performance.now();
    const subscription = this.#bus.nc.subscribe(deliver, {
      callback: (error, message) => {
        if (this.#state.kind === "ended" || subscription.isClosed()) {
          return;
        }
        if (error === null) {
          this.#take(message);
        } else {
          this.#refused(error);
        }
      },
    });
    this.#state = { kind: "following", consumer: name, subscription };
    const info = await this.#bus.jsm.consumers.add(this.#stream, this.#config(name, deliver));
    if (overtaken()) {
      return undefined;
    }
    this.#retryMs = RETRY_MIN_MS;
    if (info.num_pending === 0 && info.delivered.consumer_seq === 0) {
      this.#catchUp();
    }
    if (!first) {
      // The stream may have been replaced between the look at it and the consumer.
      return (await this.#look()).problem;
    }
    return undefined;
  }

  /** Looks at the stream. What is delivered while the answer is on its way may lie behind the end that it names. */
  async #look(): Promise<{ state: StreamState; problem: string | undefined }> {
    const wanted = (this.#next ?? 1) - 1;
    const state = await streamState(this.#bus, this.#stream);
    return { state, problem: await this.#problemWith(state, wanted) };
  }

  #config(name: string, deliver: string): Partial<ConsumerConfig> {
    const { filters, from } = this.#effect;
    return {
      name,
      deliver_subject: deliver,
      ack_policy: AckPolicy.None,
      max_deliver: 1,
      mem_storage: true,
      num_replicas: 1,
      flow_control: true,
      idle_heartbeat: nanos(HEARTBEAT_MS),
      inactive_threshold: nanos(INACTIVE_MS),
      ...(this.#next !== undefined
        ? { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: this.#next }
        : {
            deliver_policy:
              from === "last-per-subject" ? DeliverPolicy.LastPerSubject : DeliverPolicy.All,
          }),
      ...(this.#effect.headersOnly === true ? { headers_only: true } : {}),
      ...(filters.length === 1 && filters[0] !== undefined ? { filter_subject: filters[0] } : {}),
      ...(filters.length > 1 ? { filter_subjects: [...filters] } : {}),
      ...(filters.length === 0 && from === "last-per-subject" ? { filter_subject: ">" } : {}),
    };
  }

  async #problemWith(now: StreamState, wanted: number): Promise<string | undefined> {
    if (now.lastSequence < wanted) {
      return `stream ${this.#stream} ends at ${now.lastSequence}, ${wanted} was there before`;
    }
    if (this.#origin === undefined) {
      return undefined;
    }
    if (now.createdUnixNs !== this.#origin.createdUnixNs) {
      return `stream ${this.#stream} was created anew`;
    }
    if (now.lastSequence < this.#origin.lastSequence) {
      return `stream ${this.#stream} ends at ${now.lastSequence}, it went to ${this.#origin.lastSequence} before`;
    }
    const { streams } = this.#bus.jsm;
    const problem = await this.#trail.check(
      {
        timeAt: async (seq) => (await streams.getMessage(this.#stream, { seq }))?.time.getTime(),
        lastOf: async (subject) =>
          (await streams.getMessage(this.#stream, { last_by_subj: subject }))?.seq,
      },
      now.firstSequence,
    );
    return problem === undefined ? undefined : `stream ${this.#stream}: ${problem}`;
  }

  #take(message: Msg): void {
    this.#heardMs = performance.now();
    const status = message.headers?.code ?? 0;
    if (status !== 0) {
      this.#takeStatus(message, status);
      return;
    }
    const place = placeOf(message.reply);
    if (place === undefined) {
      return;
    }
    if (place.delivery !== this.#deliveryCount + 1) {
      this.restart();
      return;
    }
    this.#deliveryCount = place.delivery;
    const record: StoredRecord = {
      subject: message.subject,
      sequence: place.sequence,
      // A copy, so that a reducer that keeps a part of it does not keep the socket's buffer.
      payload: message.data.slice(),
      headers: fromWire(message.headers),
      timeUnixMs: Number(place.unixNs / 1_000_000n),
    };
    this.#delivered = place.sequence;
    this.#trail.add({
      sequence: place.sequence,
      subject: message.subject,
      unixMs: record.timeUnixMs,
      expires: record.headers[HEADER.ttl] !== undefined,
    });
    this.#next = place.sequence + 1;
    this.#host.inbox.deliver({ kind: "record", reader: this.#effect.reader, record });
    if (place.pending === 0 || place.sequence >= (this.#origin?.lastSequence ?? 0)) {
      this.#catchUp();
    }
  }

  #takeStatus(message: Msg, status: number): void {
    if (status !== 100) {
      // The consumer was deleted or its server ends.
      this.restart();
      return;
    }
    const headers = message.headers;
    const last = Number(headers?.get("Nats-Last-Consumer") || "-1");
    if (last > this.#deliveryCount) {
      this.restart();
      return;
    }
    const respondTo = message.reply || headers?.get("Nats-Consumer-Stalled");
    if (respondTo) {
      // Flow control: the server sends on once this is answered, so a full mailbox holds it back.
      if (this.#heldBack) {
        return;
      }
      this.#heldBack = true;
      this.#host.inbox.whenRoom(() => {
        this.#heldBack = false;
        if (this.#bus.connected) {
          this.#bus.nc.publish(respondTo);
        }
      });
    } else if (last === this.#deliveryCount) {
      this.#catchUp();
    }
  }

  #catchUp(): void {
    if (!this.#caughtUp) {
      this.#caughtUp = true;
      const sequence = Math.max(this.#origin?.lastSequence ?? 0, this.#delivered);
      this.#host.inbox.deliver({ kind: "caught-up", reader: this.#effect.reader, sequence });
    }
  }

  #lose(detail: string): void {
    this.end();
    this.#host.lost();
    this.#host.inbox.deliver({ kind: "reader-lost", reader: this.#effect.reader, detail });
  }

  /** The actor is told once; the service says that it does not serve until the server accepts. */
  #refused(error: unknown): void {
    const detail = error instanceof Error ? error.message : String(error);
    const known = this.#problem !== undefined;
    this.#problem = `following ${this.#stream}: ${detail}`;
    this.#again(REFUSED_MS);
    if (!known) {
      this.#host.inbox.deliver({
        kind: "failed",
        tag: this.#effect.reader,
        effect: "follow",
        code: isDenied(error) ? "denied" : "unavailable",
        detail,
      });
    }
  }

  #leaveConsumer(): void {
    if (this.#state.kind !== "following") {
      return;
    }
    const { consumer, subscription } = this.#state;
    subscription.unsubscribe();
    if (this.#bus.connected) {
      // Best effort: an abandoned consumer goes by itself when it is inactive.
      this.#bus.jsm.consumers.delete(this.#stream, consumer).catch(() => undefined);
    }
  }
}

interface Place {
  readonly sequence: number;
  readonly delivery: number;
  readonly unixNs: bigint;
  readonly pending: number;
}

// The reply subject of a delivered message says where it comes from:
// $JS.ACK[.<domain>.<account>].<stream>.<consumer>.<times>.<stream seq>.<delivery seq>.<ns>.<pending>[.<token>]
function placeOf(reply: string | undefined): Place | undefined {
  const tokens = reply?.split(".") ?? [];
  if (tokens[0] !== "$JS" || tokens[1] !== "ACK") {
    return undefined;
  }
  const offset = tokens.length === 9 ? 5 : 7;
  const [sequence, delivery, unixNs, pending] = tokens.slice(offset, offset + 4);
  if (unixNs === undefined) {
    return undefined;
  }
  return {
    sequence: Number(sequence),
    delivery: Number(delivery),
    unixNs: BigInt(unixNs),
    pending: Number(pending),
  };
}
