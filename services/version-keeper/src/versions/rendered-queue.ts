import type { Outbox, StoredRecord } from "@ringwall/actor";

/** Most batches that wait for their partition; more are read again later. */
const MOST_RECORDS = 1_000;

/** Most bytes of waiting batches. */
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * Reads one partition of RENDERED and keeps what waits within bounds: when too much waits, reading
 * stops, and goes on at the same place once the queue is empty.
 */
export class RenderedQueue {
  readonly #outbox: Outbox;
  readonly #subject: string;
  readonly #name: string;
  #turn = 0;
  #records: StoredRecord[] = [];
  #bytes = 0;
  /** First sequence that was not queued, when reading has stopped. */
  #resumeAt: number | undefined;
  #reading = false;
  #lost = false;

  constructor(outbox: Outbox, partition: number, subject: string) {
    this.#outbox = outbox;
    this.#subject = subject;
    this.#name = `rendered.${partition}.`;
  }

  /** Id of the present reader. */
  get reader(): string {
    return `${this.#name}${this.#turn}`;
  }

  /** True if the stream was re-created or went back. */
  get isLost(): boolean {
    return this.#lost;
  }

  /** Starts reading at a sequence; what was queued before is dropped. */
  open(from: number): void {
    this.close();
    this.#lost = false;
    this.#follow(from);
  }

  /** Stops reading and drops what is queued. */
  close(): void {
    this.#stop();
    this.#records = [];
    this.#bytes = 0;
    this.#resumeAt = undefined;
  }

  /** Takes a record of the reader; one of an earlier reader is dropped. */
  take(reader: string, record: StoredRecord): void {
    if (reader !== this.reader || !this.#reading) {
      return;
    }
    this.#records.push(record);
    this.#bytes += record.payload.length;
    if (this.#records.length >= MOST_RECORDS || this.#bytes >= MOST_BYTES) {
      this.#stop();
      this.#resumeAt = record.sequence + 1;
    }
  }

  /** Notes that the reader is gone. */
  readerLost(reader: string): void {
    if (reader === this.reader && this.#reading) {
      this.#reading = false;
      this.#lost = true;
    }
  }

  /** The next batch, if one waits. */
  next(): StoredRecord | undefined {
    const record = this.#records.shift();
    if (record !== undefined) {
      this.#bytes -= record.payload.length;
    } else if (this.#resumeAt !== undefined) {
      const from = this.#resumeAt;
      this.#resumeAt = undefined;
      this.#follow(from);
    }
    return record;
  }

  #follow(from: number): void {
    this.#turn += 1;
    this.#reading = true;
    this.#outbox.add({
      kind: "follow",
      reader: this.reader,
      stream: "RENDERED",
      filters: [this.#subject],
      from,
    });
  }

  #stop(): void {
    if (this.#reading) {
      this.#reading = false;
      this.#outbox.add({ kind: "unfollow", reader: this.reader });
    }
  }
}
