import type { Headers, StoredRecord } from "@ringwall/actor";
import type { StreamSettings } from "@ringwall/bus";
import { subjectMatches } from "./subject.ts";

/** What a stream expects of an append. */
export interface Expectation {
  readonly sequence: number;
  readonly filter: string;
}

/** Answer of a stream to an append. */
export type AppendAnswer =
  | { readonly kind: "stored"; readonly sequence: number; readonly ttlMs: number | undefined }
  | { readonly kind: "wrong-last-sequence"; readonly last: number };

/** A copy of a stream's content, to go back to. */
export interface StreamCopy {
  readonly records: readonly StoredRecord[];
  readonly lastSequence: number;
  readonly createdUnixNs: bigint;
}

/**
 * A stream as JetStream keeps it: one sequence, last values by subject, a limit for each subject,
 * expected last subject sequences with filters, rollups, purges and times to live.
 */
export class SimStream {
  readonly settings: StreamSettings;
  readonly #records = new Map<number, StoredRecord>();
  readonly #bySubject = new Map<string, number[]>();
  readonly #lastByFilter = new Map<string, number>();
  /** What the last message of a subject replaced, for stale reads. */
  readonly #before = new Map<string, StoredRecord>();
  #lastSequence = 0;
  #createdUnixNs: bigint;

  constructor(settings: StreamSettings, createdUnixNs: bigint) {
    this.settings = settings;
    this.#createdUnixNs = createdUnixNs;
  }

  get createdUnixNs(): bigint {
    return this.#createdUnixNs;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  get firstSequence(): number {
    const [first] = this.#records.keys();
    return first ?? this.#lastSequence + 1;
  }

  /** Stored messages in order. */
  get records(): IterableIterator<StoredRecord> {
    return this.#records.values();
  }

  /** True if the stream takes this subject. */
  takes(subject: string): boolean {
    return this.settings.subjects.some((pattern) => subjectMatches(pattern, subject));
  }

  /** Stores a message if what is expected holds. */
  append(
    subject: string,
    payload: Uint8Array,
    headers: Headers,
    timeUnixMs: number,
    expect?: Expectation,
  ): AppendAnswer {
    if (expect !== undefined) {
      const last = this.lastOf(expect.filter);
      if (last !== expect.sequence) {
        return { kind: "wrong-last-sequence", last };
      }
    }
    const former = this.last(subject);
    if (headers["Nats-Rollup"] === "sub") {
      this.#removeSubject(subject, Number.POSITIVE_INFINITY);
    }
    this.#lastSequence += 1;
    const sequence = this.#lastSequence;
    this.#insert({ subject, sequence, payload, headers, timeUnixMs });
    if (former !== undefined) {
      this.#before.set(subject, former);
    }
    const limit = this.settings.max_msgs_per_subject;
    const sequences = this.#bySubject.get(subject) ?? [];
    if (limit > 0 && sequences.length > limit) {
      this.#remove(sequences[0] ?? 0);
    }
    for (const [filter] of this.#lastByFilter) {
      if (subjectMatches(filter, subject)) {
        this.#lastByFilter.set(filter, sequence);
      }
    }
    return { kind: "stored", sequence, ttlMs: ttlMs(headers["Nats-TTL"]) };
  }

  /** Last sequence over the subjects that match a filter; 0 if there is none. */
  lastOf(filter: string): number {
    let last = this.#lastByFilter.get(filter);
    if (last === undefined) {
      last = 0;
      for (const [subject, sequences] of this.#bySubject) {
        if (subjectMatches(filter, subject)) {
          last = Math.max(last, sequences.at(-1) ?? 0);
        }
      }
      this.#lastByFilter.set(filter, last);
    }
    return last;
  }

  /** The last message of a subject. */
  last(subject: string): StoredRecord | undefined {
    return this.#records.get(this.#bySubject.get(subject)?.at(-1) ?? 0);
  }

  /** What a subject's last message replaced: the answer of a leader that has not heard of it. */
  staleLast(subject: string): StoredRecord | undefined {
    return this.#before.get(subject);
  }

  /** The message at a sequence. */
  at(sequence: number): StoredRecord | undefined {
    return this.#records.get(sequence);
  }

  /** The first message at or after a sequence whose subject passes the test. */
  next(from: number, takes: (subject: string) => boolean): StoredRecord | undefined {
    for (let sequence = from; sequence <= this.#lastSequence; sequence += 1) {
      const record = this.#records.get(sequence);
      if (record !== undefined && takes(record.subject)) {
        return record;
      }
    }
    return undefined;
  }

  /** True if a message is the last of its subject. */
  isLast(record: StoredRecord): boolean {
    return this.#bySubject.get(record.subject)?.at(-1) === record.sequence;
  }

  /** Deletes messages of subjects that match the filter, those before `below` if it is given. */
  purge(filter: string, below = Number.POSITIVE_INFINITY): void {
    for (const subject of [...this.#bySubject.keys()]) {
      if (subjectMatches(filter, subject)) {
        this.#removeSubject(subject, below);
      }
    }
  }

  /** Deletes one message, as an expired time to live does. */
  expire(sequence: number): void {
    this.#remove(sequence);
  }

  /** A copy of what is stored. */
  copy(): StreamCopy {
    return {
      records: [...this.#records.values()],
      lastSequence: this.#lastSequence,
      createdUnixNs: this.#createdUnixNs,
    };
  }

  /** Goes back to a copy, its creation time included. */
  restore(copy: StreamCopy): void {
    this.#clear();
    this.#lastSequence = copy.lastSequence;
    this.#createdUnixNs = copy.createdUnixNs;
    for (const record of copy.records) {
      this.#insert(record);
    }
  }

  /** Empties it: a new stream of the same name, or with the old creation time one that lost all. */
  wipe(createdUnixNs: bigint): void {
    this.#clear();
    this.#lastSequence = 0;
    this.#createdUnixNs = createdUnixNs;
  }

  #insert(record: StoredRecord): void {
    this.#records.set(record.sequence, record);
    const sequences = this.#bySubject.get(record.subject);
    if (sequences === undefined) {
      this.#bySubject.set(record.subject, [record.sequence]);
    } else {
      sequences.push(record.sequence);
    }
  }

  #removeSubject(subject: string, below: number): void {
    for (const sequence of [...(this.#bySubject.get(subject) ?? [])]) {
      if (sequence < below) {
        this.#remove(sequence);
      }
    }
  }

  #remove(sequence: number): void {
    const record = this.#records.get(sequence);
    if (record === undefined) {
      return;
    }
    this.#records.delete(sequence);
    const rest = (this.#bySubject.get(record.subject) ?? []).filter((each) => each !== sequence);
    if (rest.length === 0) {
      this.#bySubject.delete(record.subject);
    } else {
      this.#bySubject.set(record.subject, rest);
    }
    for (const [filter, last] of this.#lastByFilter) {
      if (last === sequence) {
        this.#lastByFilter.delete(filter);
      }
    }
  }

  #clear(): void {
    this.#records.clear();
    this.#bySubject.clear();
    this.#lastByFilter.clear();
    this.#before.clear();
  }
}

function ttlMs(text: string | undefined): number | undefined {
  const match = /^([0-9]+)(s|m|h)?$/.exec(text ?? "");
  if (match === null) {
    return undefined;
  }
  const unitMs = { s: 1000, m: 60_000, h: 3_600_000 }[match[2] ?? "s"] ?? 1000;
  return Number(match[1]) * unitMs;
}
