import type { Effect, Message, Reducer, StoredRecord } from "@ringwall/actor";

/** An append that a reducer asked for. */
export type Append = Extract<Effect, { kind: "append" }>;

interface Reader {
  readonly stream: string;
  readonly filters: readonly string[];
}

/**
 * Steps one reducer by hand: performs its effects in memory, at once and in order, with a clock that
 * only the test moves. Appends can be withheld, so that a test sees what is in flight.
 */
export class ScriptedBus {
  readonly #reducer: Reducer;
  readonly #mailbox: Message[] = [];
  readonly #streams = new Map<string, StoredRecord[]>();
  readonly #readers = new Map<string, Reader>();
  readonly #timers = new Map<string, number>();
  readonly withheld: { readonly effects: readonly Effect[] }[] = [];
  readonly appends: Append[] = [];
  readonly effects: Effect[] = [];
  /** True for appends that are not acknowledged until `release`. */
  withhold: (append: Append) => boolean = () => false;
  /** False leaves `again` messages in place, as a busy mailbox would. */
  runSlices = true;
  nowMs = 1_000;
  #slices: Message[] = [];

  constructor(reducer: Reducer) {
    this.#reducer = reducer;
  }

  /** Stores a record as somebody else would; readers of the stream get it. */
  store(stream: string, subject: string, payload: Uint8Array, headers = {}): number {
    const records = this.#streams.get(stream) ?? [];
    this.#streams.set(stream, records);
    const sequence = records.length + 1;
    const record = { subject, sequence, payload, headers, timeUnixMs: this.nowMs };
    records.push(record);
    for (const [reader, { stream: followed, filters }] of this.#readers) {
      if (followed === stream && filters.some((filter) => covers(filter, subject))) {
        this.#mailbox.push({ kind: "record", reader, record });
      }
    }
    return sequence;
  }

  /** Delivers a message and everything that follows from it without time passing. */
  deliver(message: Message): void {
    this.#mailbox.push(message);
    this.settle();
  }

  /** Works off the mailbox. */
  settle(): void {
    for (let next = this.#mailbox.shift(); next !== undefined; next = this.#mailbox.shift()) {
      const { nowMs } = this;
      const moment = { wallMs: nowMs, monotonicMs: nowMs, random: () => 0.5 };
      this.#run(this.#reducer.step(next, moment));
      if (this.runSlices) {
        this.#mailbox.push(...this.#slices.splice(0));
      }
    }
  }

  /** Moves the clock; timers fire in order. */
  advance(ms: number): void {
    const until = this.nowMs + ms;
    for (;;) {
      this.settle();
      const due = [...this.#timers].filter(([, atMs]) => atMs <= until);
      const [first] = due.sort(([, a], [, b]) => a - b);
      if (first === undefined) {
        break;
      }
      const [id, atMs] = first;
      this.#timers.delete(id);
      this.nowMs = Math.max(this.nowMs, atMs);
      this.deliver({ kind: "timer", id });
    }
    this.nowMs = until;
  }

  /** Lets slices run that waited. */
  resumeSlices(): void {
    this.runSlices = true;
    this.#mailbox.push(...this.#slices.splice(0));
    this.settle();
  }

  /** Acknowledges the oldest withheld append and goes on with its chain. */
  release(): void {
    const [next] = this.withheld.splice(0, 1);
    const [append, ...rest] = next?.effects ?? [];
    if (append?.kind === "append") {
      this.#append(append);
      this.#run(rest);
      this.settle();
    }
  }

  #run(effects: readonly Effect[]): void {
    for (const [index, effect] of effects.entries()) {
      this.effects.push(effect);
      if (effect.kind === "append") {
        this.appends.push(effect);
        if (this.withhold(effect)) {
          this.withheld.push({ effects: effects.slice(index) });
          return;
        }
        if (!this.#append(effect)) {
          return;
        }
      } else {
        this.#perform(effect);
      }
    }
  }

  #perform(effect: Effect): void {
    switch (effect.kind) {
      case "fork":
        this.#run(effect.effects);
        break;
      case "again":
        this.#slices.push({ kind: "again", tag: effect.tag });
        break;
      case "timer":
        this.#timers.set(effect.id, this.nowMs + effect.delayMs);
        break;
      case "cancel-timer":
        this.#timers.delete(effect.id);
        break;
      case "follow":
        this.#follow(effect.reader, effect);
        break;
      case "unfollow":
        this.#readers.delete(effect.reader);
        break;
      case "read-last": {
        const records = this.#streams.get(effect.stream) ?? [];
        const record = records.findLast(({ subject }) => subject === effect.subject);
        this.#mailbox.push({ kind: "read", tag: effect.tag, record });
        break;
      }
      case "read-at": {
        const record = this.#streams.get(effect.stream)?.[effect.sequence - 1];
        this.#mailbox.push({ kind: "read", tag: effect.tag, record });
        break;
      }
      case "stream-info": {
        const lastSequence = this.#streams.get(effect.stream)?.length ?? 0;
        const { tag } = effect;
        this.#mailbox.push({
          kind: "stream-info",
          tag,
          createdUnixNs: 1n,
          firstSequence: 1,
          lastSequence,
        });
        break;
      }
      case "request":
        this.#mailbox.push({
          kind: "failed",
          tag: effect.tag,
          effect: "request",
          code: "no-responders",
          detail: effect.subject,
        });
        break;
    }
  }

  #append(effect: Append): boolean {
    const { stream, subject, payload, headers, expect, tag } = effect;
    const records = this.#streams.get(stream) ?? [];
    const last = records.findLast((each) => each.subject === subject)?.sequence ?? 0;
    if (expect !== undefined && expect.sequence !== last) {
      const detail = `last sequence is ${last}`;
      this.#mailbox.push({ kind: "failed", tag, effect: "append", code: "fence-lost", detail });
      return false;
    }
    this.#mailbox.push({
      kind: "appended",
      tag,
      sequence: this.store(stream, subject, payload, headers),
    });
    return true;
  }

  #follow(reader: string, { stream, filters }: Reader): void {
    this.#readers.set(reader, { stream, filters });
    for (const record of this.#streams.get(stream) ?? []) {
      if (filters.some((filter) => covers(filter, record.subject))) {
        this.#mailbox.push({ kind: "record", reader, record });
      }
    }
    const sequence = this.#streams.get(stream)?.length ?? 0;
    this.#mailbox.push({ kind: "caught-up", reader, sequence });
  }
}

function covers(filter: string, subject: string): boolean {
  const wanted = filter.split(".");
  const tokens = subject.split(".");
  return wanted.every(
    (token, index) => token === ">" || (tokens[index] ?? "") === token || token === "*",
  );
}
