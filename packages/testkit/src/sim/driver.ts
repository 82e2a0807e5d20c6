import {
  DONE,
  type Driver,
  failure,
  type Headers,
  type Inbox,
  type ListenEffect,
  type Outcome,
  type OutsideEffect,
  type ReadLastEffect,
  type RequestEffect,
} from "@ringwall/actor";
import { HEADER } from "@ringwall/bus";
import {
  chance,
  type DriverHost,
  headersOf,
  lastRecord,
  latencyMs,
  SimAppender,
} from "./append.ts";
import type { CoreMessage } from "./core.ts";
import { SimReader } from "./reader.ts";
import type { SimStream } from "./stream.ts";
import { subjectMatches } from "./subject.ts";

/** As long as the driver on NATS waits between two attempts to read. */
const PAUSE_MS = 200;

/** As long as the driver on NATS waits before it tries a refused subscription again. */
const RELISTEN_MS = 5000;

/** Where an actor's telemetry goes. */
export type TelemetrySink = (
  effect: Extract<
    OutsideEffect,
    { kind: "log" | "span" | "count" | "gauge" | "observe" | "ready" }
  >,
) => void;

/** One actor's connection: performs its effects in virtual time, with the world's faults. */
export class SimDriver implements Driver {
  readonly #host: DriverHost;
  readonly #name: string;
  readonly #telemetry: TelemetrySink;
  readonly #denied: readonly string[];
  readonly #readers = new Map<string, SimReader>();
  readonly #listeners = new Map<string, () => void>();
  readonly #open = new Set<string>();
  readonly #appender: SimAppender;
  #inbox: Inbox | undefined;
  #connected = true;
  #quiet = false;
  #dead = false;

  /** `denied`: subject filters that this connection may neither publish, store nor listen on. */
  constructor(host: DriverHost, name: string, denied: readonly string[], telemetry: TelemetrySink) {
    this.#host = host;
    this.#name = name;
    this.#denied = denied;
    this.#telemetry = telemetry;
    this.#appender = new SimAppender(host, name, () =>
      this.#dead ? "dead" : this.#connected ? "connected" : "away",
    );
  }

  get connected(): boolean {
    return this.#connected;
  }

  attach(inbox: Inbox): void {
    this.#inbox = inbox;
  }

  quiesce(): void {
    this.#quiet = true;
    for (const reader of this.#readers.values()) {
      reader.end();
    }
    for (const unsubscribe of this.#listeners.values()) {
      unsubscribe();
    }
    this.#readers.clear();
    this.#listeners.clear();
  }

  /** Its process is gone: what is on its way arrives, nothing new is sent. */
  kill(): void {
    this.#dead = true;
    this.#connected = false;
    this.quiesce();
  }

  /** Cuts the connection: nothing comes in or goes out. */
  disconnect(): void {
    this.#connected = false;
    for (const reader of this.#readers.values()) {
      reader.disconnect();
    }
  }

  /** Makes it again. */
  reconnect(): void {
    this.#connected = true;
    for (const reader of this.#readers.values()) {
      reader.reconnect();
    }
    this.#inbox?.deliver({ kind: "reconnected" });
  }

  /** Readers of a stream that want a subject look for new records. */
  wakeReaders(stream: SimStream, subject: string): void {
    for (const reader of this.#readers.values()) {
      if (reader.reads(stream, subject)) {
        reader.wake();
      }
    }
  }

  perform(effect: OutsideEffect, done: (outcome: Outcome) => void): void {
    switch (effect.kind) {
      case "append": {
        const refusal = this.#refusal(effect.subject, effect.payload);
        if (refusal === undefined) {
          this.#appender.append(effect, done);
        } else {
          this.#later(() => done(refusal));
        }
        return;
      }
      case "publish":
        done(this.#publish(effect.subject, effect.payload, headersOf(effect)));
        return;
      case "request":
        this.#request(effect, done);
        return;
      case "reply":
        done(this.#reply(effect.to, effect.payload));
        return;
      case "read-last":
        this.#read(done, () => ({ ok: true, message: this.#readLast(effect) }));
        return;
      case "read-at":
        this.#read(done, () => {
          const record = this.#host.stream(effect.stream).at(effect.sequence);
          return { ok: true, message: { kind: "read", tag: effect.tag, record } };
        });
        return;
      case "stream-info":
        this.#read(done, () => {
          const { createdUnixNs, firstSequence, lastSequence } = this.#host.stream(effect.stream);
          const place = { createdUnixNs, firstSequence, lastSequence };
          return { ok: true, message: { kind: "stream-info", tag: effect.tag, ...place } };
        });
        return;
      case "trim":
        this.#read(done, () => {
          const stream = this.#host.stream(effect.stream);
          if (stream.settings.deny_purge) {
            return failure("unavailable", `stream ${effect.stream} may not be purged`);
          }
          if (effect.all === true) {
            stream.purge(effect.subject);
          } else {
            const last = stream.last(effect.subject)?.sequence ?? 0;
            stream.purge(effect.subject, Math.min(effect.below ?? 0, last));
          }
          return { ok: true, message: { kind: "trimmed", tag: effect.tag } };
        });
        return;
      case "follow":
        this.#follow(effect);
        break;
      case "unfollow":
        this.#readers.get(effect.reader)?.end();
        this.#readers.delete(effect.reader);
        break;
      case "listen":
        this.#listen(effect);
        break;
      case "unlisten":
        this.#listeners.get(effect.listener)?.();
        this.#listeners.delete(effect.listener);
        break;
      default:
        this.#telemetry(effect);
    }
    done(DONE);
  }

  #readLast(effect: ReadLastEffect) {
    const record = lastRecord(this.#host, this.#host.stream(effect.stream), effect.subject);
    return { kind: "read", tag: effect.tag, record } as const;
  }

  #read(done: (outcome: Outcome) => void, look: () => Outcome): void {
    if (!this.#connected) {
      this.#host.schedule.after(PAUSE_MS, () => done(failure("unavailable", "not connected")));
      return;
    }
    this.#later(() => {
      const outcome = look();
      this.#later(() => done(outcome));
    });
  }

  #publish(subject: string, payload: Uint8Array, headers: Headers): Outcome {
    const refusal = this.#refusal(subject, payload);
    if (refusal !== undefined) {
      // On NATS a refused publish is not told to the publisher; one that is too large is.
      return !refusal.ok && refusal.code === "denied" ? DONE : refusal;
    }
    if (this.#connected) {
      this.#send({ subject, payload: payload.slice(), headers, replyTo: undefined });
    }
    return DONE;
  }

  #request(effect: RequestEffect, done: (outcome: Outcome) => void): void {
    const { core, faults, schedule } = this.#host;
    const refusal = this.#refusal(effect.subject, effect.payload);
    if (refusal !== undefined) {
      this.#later(() => done(refusal));
      return;
    }
    if (!this.#connected) {
      this.#later(() => done(failure("unavailable", "not connected")));
      return;
    }
    if (!core.hasListener(effect.subject) || chance(this.#host, faults.noResponders)) {
      this.#later(() => done(failure("no-responders", effect.subject)));
      return;
    }
    const replyTo = this.#host.inbox();
    let over = false;
    const end = (outcome: Outcome) => {
      if (!over) {
        over = true;
        unsubscribe();
        cancel();
        done(outcome);
      }
    };
    const unsubscribe = core.subscribe({
      filter: replyTo,
      queue: undefined,
      owner: this.#name,
      take: ({ payload }) => {
        if (this.#connected) {
          end({ ok: true, message: { kind: "response", tag: effect.tag, payload } });
        }
      },
    });
    const cancel = schedule.after(effect.timeoutMs, () => end(failure("timeout", effect.subject)));
    const { subject, payload } = effect;
    this.#send({ subject, payload: payload.slice(), headers: headersOf(effect), replyTo });
  }

  #reply(to: string, payload: Uint8Array): Outcome {
    if (payload.length > this.#host.maxPayload) {
      return failure("too-large", `${payload.length} bytes, ${this.#host.maxPayload} allowed`);
    }
    if (!this.#open.delete(to)) {
      return failure("not-found", `${to} asked nothing that is still unanswered`);
    }
    if (this.#connected) {
      this.#send({ subject: to, payload: payload.slice(), headers: {}, replyTo: undefined });
    }
    return DONE;
  }

  #follow(effect: Extract<OutsideEffect, { kind: "follow" }>): void {
    this.#readers.get(effect.reader)?.end();
    const inbox = this.#inbox;
    if (inbox === undefined || this.#quiet) {
      return;
    }
    const stream = this.#host.stream(effect.stream);
    const reader: SimReader = new SimReader(this.#host, effect, stream, inbox, () => {
      if (this.#readers.get(effect.reader) === reader) {
        this.#readers.delete(effect.reader);
      }
    });
    if (!this.#connected) {
      reader.disconnect();
    }
    this.#readers.set(effect.reader, reader);
  }

  #listen(effect: ListenEffect, first = true): void {
    this.#listeners.get(effect.listener)?.();
    if (this.#isDenied(effect.subject)) {
      const { listener, subject } = effect;
      if (first) {
        this.#later(() =>
          this.#inbox?.deliver({
            kind: "failed",
            tag: listener,
            effect: "listen",
            code: "denied",
            detail: `no permission to subscribe to ${subject}`,
          }),
        );
      }
      const cancel = this.#host.schedule.after(RELISTEN_MS, () => this.#listen(effect, false));
      this.#listeners.set(listener, cancel);
      return;
    }
    const agents = `${this.#host.names.prefix}.agent.`;
    const unsubscribe = this.#host.core.subscribe({
      filter: effect.subject,
      queue: effect.queue,
      owner: this.#name,
      take: (message) => {
        if (this.#connected) {
          this.#deliver(effect.listener, message, message.subject.startsWith(agents));
        }
      },
    });
    this.#listeners.set(effect.listener, unsubscribe);
  }

  #deliver(listener: string, message: CoreMessage, fromAgent: boolean): void {
    const { subject, payload, headers } = message;
    const trace = headers[HEADER.trace];
    const replyTo = fromAgent ? undefined : message.replyTo;
    if (replyTo !== undefined) {
      this.#open.add(replyTo);
    }
    this.#inbox?.deliver({
      kind: "delivery",
      listener,
      subject,
      payload,
      headers,
      ...(replyTo === undefined ? {} : { replyTo }),
      ...(trace === undefined ? {} : { trace }),
    });
  }

  #send(message: CoreMessage): void {
    this.#host.core.publish(this.#name, message);
  }

  #refusal(subject: string, payload: Uint8Array): Outcome | undefined {
    if (payload.length > this.#host.maxPayload) {
      const words = `message for ${subject} has ${payload.length} bytes`;
      return failure("too-large", `${words}, ${this.#host.maxPayload} are allowed`);
    }
    return this.#isDenied(subject)
      ? failure("denied", `no permission to publish to ${subject}`)
      : undefined;
  }

  #isDenied(subject: string): boolean {
    return this.#denied.some((filter) => subjectMatches(filter, subject));
  }

  #later(call: () => void): void {
    this.#host.schedule.after(latencyMs(this.#host), call);
  }
}
