import type { AppendEffect, StoredRecord } from "@ringwall/actor";
import { HEADER } from "@ringwall/bus";

/** What JetStream does with appends to a bucket of one value per key: fences, purges, last values. */
export class MemoryStream {
  readonly #last = new Map<string, StoredRecord>();
  #sequence = 0;

  /** Stores the append; undefined if its fence is lost. */
  append(effect: AppendEffect): StoredRecord | undefined {
    const { expect, subject, payload, write } = effect;
    if (expect !== undefined && this.fence(expect.filter ?? subject) !== expect.sequence) {
      return undefined;
    }
    this.#sequence += 1;
    const record = {
      subject,
      sequence: this.#sequence,
      payload,
      headers: { ...effect.headers, ...(write === undefined ? {} : { [HEADER.write]: write }) },
      timeUnixMs: 1_000_000 + this.#sequence,
    };
    this.#last.set(subject, record);
    return record;
  }

  /** The last message of each subject below a filter, in order. */
  lastPerSubject(filter: string): StoredRecord[] {
    return [...this.#last.values()]
      .filter((record) => matches(filter, record.subject))
      .sort((a, b) => a.sequence - b.sequence);
  }

  /** Last sequence among the messages that a filter finds. */
  fence(filter: string): number {
    return this.lastPerSubject(filter).at(-1)?.sequence ?? 0;
  }

  /** Last sequence of the stream. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Remembers what it holds; gives what puts that back. */
  backUp(): () => void {
    const last = new Map(this.#last);
    const sequence = this.#sequence;
    return () => {
      this.#last.clear();
      for (const [subject, record] of last) {
        this.#last.set(subject, record);
      }
      this.#sequence = sequence;
    };
  }

  /** Drops the message of a subject, as the end of a marker's time does. */
  expire(subject: string): void {
    this.#last.delete(subject);
  }
}

function matches(filter: string, subject: string): boolean {
  return filter.endsWith(">") ? subject.startsWith(filter.slice(0, -1)) : subject === filter;
}
