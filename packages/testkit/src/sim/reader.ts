import type { FollowEffect, Inbox, StoredRecord } from "@ringwall/actor";
import { HEADER } from "@ringwall/bus";
import type { CoreHost } from "./core.ts";
import type { SimStream } from "./stream.ts";
import { subjectTest } from "./subject.ts";

const LATENCY_MS = 0.2;
const JITTER_MS = 0.8;
/** Records delivered before others have their turn. */
const BURST = 32;
/** Delivered records by which a stream that went back is told. */
const TRAIL = 32;

/**
 * An ordered reader: each record once, in order, at the pace of the mailbox. After a reconnect it
 * makes sure, as the one on NATS does, that the stream is still the one that it has read.
 */
export class SimReader {
  readonly #host: CoreHost;
  readonly #effect: FollowEffect;
  readonly #stream: SimStream;
  readonly #inbox: Inbox;
  readonly #onLost: () => void;
  readonly #takes: (subject: string) => boolean;
  #next = 1;
  /** Up to here nothing else is to come; looked at again after every reconnect. */
  #passed = 0;
  #createdUnixNs: bigint;
  #originLast: number;
  /** The records that were delivered last. */
  #trail: StoredRecord[] = [];
  /** True until the trail was held against the stream after a reconnect. */
  #suspicious = false;
  /** While reading last-per-subject: records up to here only count if they are their subject's last. */
  #lastOnlyUpTo = 0;
  #caughtUp = false;
  #scheduled = false;
  #over = false;
  #away = false;

  constructor(
    host: CoreHost,
    effect: FollowEffect,
    stream: SimStream,
    inbox: Inbox,
    onLost: () => void,
  ) {
    this.#host = host;
    this.#effect = effect;
    this.#stream = stream;
    this.#inbox = inbox;
    this.#onLost = onLost;
    this.#takes = subjectTest(effect.filters);
    this.#createdUnixNs = stream.createdUnixNs;
    this.#originLast = stream.lastSequence;
    const { from } = effect;
    if (from === "new") {
      this.#next = stream.lastSequence + 1;
    } else if (typeof from === "number") {
      this.#next = Math.max(1, from);
    } else if (from === "last-per-subject") {
      this.#lastOnlyUpTo = stream.lastSequence;
    }
    this.wake();
  }

  /** True if it wants a message of this stream. */
  reads(stream: SimStream, subject: string): boolean {
    return this.#stream === stream && this.#takes(subject);
  }

  /** Looks for new records soon. */
  wake(): void {
    if (this.#scheduled || this.#over || this.#away) {
      return;
    }
    this.#scheduled = true;
    const { faults } = this.#host;
    const late = faults.delay > 0 && this.#host.random() < faults.delay;
    const delayMs =
      LATENCY_MS +
      this.#host.random() * JITTER_MS +
      (late ? this.#host.random() * faults.delayMs : 0);
    this.#host.schedule.after(delayMs, () => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  /** The connection is gone: nothing comes until `reconnect`. */
  disconnect(): void {
    this.#away = true;
  }

  /** The connection is back. */
  reconnect(): void {
    this.#away = false;
    this.#suspicious = true;
    this.#passed = 0;
    this.wake();
  }

  /** Ends it. */
  end(): void {
    this.#over = true;
  }

  #pump(): void {
    if (this.#over || this.#away) {
      return;
    }
    const problem = this.#problem();
    if (problem !== undefined) {
      this.#over = true;
      this.#onLost();
      this.#inbox.deliver({ kind: "reader-lost", reader: this.#effect.reader, detail: problem });
      return;
    }
    for (let i = 0; i < BURST; i += 1) {
      if (this.#inbox.full) {
        this.#inbox.whenRoom(() => this.wake());
        return;
      }
      const record = this.#stream.next(Math.max(this.#next, this.#passed + 1), this.#takes);
      if (record === undefined) {
        this.#passed = this.#stream.lastSequence;
        this.#catchUp();
        return;
      }
      this.#next = record.sequence + 1;
      if (record.sequence <= this.#lastOnlyUpTo && !this.#stream.isLast(record)) {
        continue;
      }
      this.#trail.push(record);
      if (this.#trail.length > 2 * TRAIL) {
        this.#trail = this.#trail.slice(-TRAIL);
      }
      this.#inbox.deliver({
        kind: "record",
        reader: this.#effect.reader,
        record: this.#effect.headersOnly === true ? withoutPayload(record) : record,
      });
      if (record.sequence >= this.#originLast) {
        this.#catchUp();
      }
    }
    this.wake();
  }

  #problem(): string | undefined {
    const { lastSequence, createdUnixNs } = this.#stream;
    const wanted = this.#next - 1;
    if (lastSequence < wanted || lastSequence < this.#originLast) {
      return `stream ends at ${lastSequence}, ${Math.max(wanted, this.#originLast)} was there before`;
    }
    if (createdUnixNs !== this.#createdUnixNs) {
      return "stream was created anew";
    }
    const problem = this.#suspicious ? this.#problemOfTrail() : undefined;
    this.#suspicious = false;
    return problem;
  }

  /** As the one on NATS does: looks back until a record is found in its place. */
  #problemOfTrail(): string | undefined {
    const reached = this.#trail.at(-1)?.sequence ?? 0;
    const replaced = new Set<string>();
    for (const record of this.#trail.toReversed()) {
      const { sequence, subject, headers } = record;
      const stored = this.#stream.at(sequence);
      if (stored !== undefined) {
        return stored === record ? undefined : `message ${sequence} is another than it was`;
      }
      if (sequence < this.#stream.firstSequence) {
        return undefined;
      }
      if (headers[HEADER.ttl] === undefined && !replaced.has(subject)) {
        const last = this.#stream.last(subject)?.sequence ?? 0;
        if (last <= reached) {
          return `message ${sequence} is gone, and nothing has replaced it`;
        }
      }
      replaced.add(subject);
    }
    return undefined;
  }

  #catchUp(): void {
    if (!this.#caughtUp) {
      this.#caughtUp = true;
      const sequence = Math.max(this.#originLast, this.#trail.at(-1)?.sequence ?? 0);
      this.#inbox.deliver({ kind: "caught-up", reader: this.#effect.reader, sequence });
    }
  }
}

function withoutPayload(record: StoredRecord): StoredRecord {
  const headers = { ...record.headers, "Nats-Msg-Size": String(record.payload.length) };
  return { ...record, payload: new Uint8Array(), headers };
}
