import type { Effect, StoredRecord } from "@ringwall/actor";
import { Lru } from "./lru.ts";

/** Objects that are kept in memory, in bytes. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** Reads under way at the same time. */
const READS = 256;

/** Wait before an object that was missing is read again; grows to the latter. */
const RETRY_MS = 200;
const RETRY_CAP_MS = 5000;

/** Most parts of one object. */
const PARTS_LIMIT = 256;

/** Objects whose parts are still coming in. */
const PARTIAL_LIMIT = 64;

const COUNT_HEADER = "Rw-Count";
const TAG = "content:";

interface Read {
  readonly parts: (Uint8Array | undefined)[];
  count: number;
  attempts: number;
  /** Parts that were asked for and not answered. */
  open: number;
  retryAtMs: number;
}

/**
 * Objects of CONTENT by digest: those that passed by lately, and those that someone asked for. An
 * object that is missing is asked for until it is there.
 */
export class Objects {
  readonly #subject: (digest: string, index: number) => string;
  readonly #pattern: RegExp;
  readonly #kept = new Lru<Uint8Array>(KEPT_BYTES, (bytes) => bytes.length + 200);
  readonly #reads = new Map<string, Read>();
  readonly #queue: string[] = [];
  readonly #partial = new Map<string, (Uint8Array | undefined)[]>();
  #open = 0;

  /** `subject` gives the subject of a part of an object. */
  constructor(subject: (digest: string, index: number) => string) {
    this.#subject = subject;
    const prefix = subject("", 0).slice(0, -2).replace(/[.$]/g, "\\$&");
    this.#pattern = new RegExp(`^${prefix}([0-9a-f]{64})\\.(\\d+)$`);
  }

  /** Digests that were found missing and are waited for. */
  get missing(): readonly string[] {
    return [...this.#reads].filter(([, read]) => read.attempts > 0).map(([digest]) => digest);
  }

  /** The object, if it is in memory. */
  get(digest: string): Uint8Array | undefined {
    return this.#kept.get(digest);
  }

  /** Takes a record of CONTENT that passes by; the digest of the object that it completes. */
  pass(record: StoredRecord): string | undefined {
    const match = this.#pattern.exec(record.subject);
    const [, digest, index] = match ?? [];
    if (digest === undefined || index === undefined) {
      return undefined;
    }
    const count = partCount(record);
    if (count === 1) {
      // A copy, so that the buffer that it arrived in can go.
      return this.#complete(digest, new Uint8Array(record.payload));
    }
    const parts = this.#partial.get(digest) ?? new Array<Uint8Array | undefined>(count);
    parts[Number(index)] = new Uint8Array(record.payload);
    this.#partial.set(digest, parts);
    if (isWhole(parts, count)) {
      return this.#complete(digest, Buffer.concat(parts.filter((part) => part !== undefined)));
    }
    for (const oldest of this.#partial.keys()) {
      if (this.#partial.size <= PARTIAL_LIMIT) {
        break;
      }
      this.#partial.delete(oldest);
    }
    return undefined;
  }

  /** Asks for an object that is not in memory; what is asked for already is not asked again. */
  want(digest: string): void {
    if (!this.#reads.has(digest)) {
      this.#reads.set(digest, { parts: [], count: 1, attempts: 0, open: 0, retryAtMs: 0 });
      this.#queue.push(digest);
    }
  }

  /** Reads that are due, up to the window. */
  reads(): readonly Effect[] {
    const effects: Effect[] = [];
    while (this.#open < READS) {
      const digest = this.#queue.shift();
      if (digest === undefined) {
        break;
      }
      const read = this.#reads.get(digest);
      if (read !== undefined && read.open === 0) {
        effects.push(this.#readPart(digest, read, 0));
      }
    }
    return effects;
  }

  /** Puts objects whose wait is over back in the queue; digests that nobody seems to hold. */
  retry(nowMs: number): readonly string[] {
    const absent: string[] = [];
    for (const [digest, read] of this.#reads) {
      if (read.attempts > 0 && read.open === 0 && nowMs >= read.retryAtMs) {
        absent.push(digest);
        read.retryAtMs = nowMs + RETRY_CAP_MS;
        this.#queue.push(digest);
      }
    }
    return absent;
  }

  /** Takes the answer to a read; whether it completed an object or found it missing. */
  answer(
    tag: string,
    record: StoredRecord | undefined,
    nowMs: number,
    effects: Effect[],
  ): { readonly digest: string; readonly found: boolean } | undefined {
    const [digest = "", index = ""] = tag.slice(TAG.length).split(":");
    this.#open -= 1;
    const read = this.#reads.get(digest);
    if (read === undefined) {
      return undefined;
    }
    read.open -= 1;
    if (record === undefined) {
      read.attempts += 1;
      const waitMs = Math.min(RETRY_CAP_MS, RETRY_MS * 2 ** Math.min(read.attempts, 8));
      read.retryAtMs = nowMs + waitMs;
      read.parts.length = 0;
      return { digest, found: false };
    }
    read.parts[Number(index)] = record.payload;
    if (Number(index) === 0) {
      read.count = partCount(record);
      for (let part = 1; part < read.count; part += 1) {
        effects.push(this.#readPart(digest, read, part));
      }
    }
    if (!isWhole(read.parts, read.count)) {
      return undefined;
    }
    this.#complete(digest, Buffer.concat(read.parts.filter((part) => part !== undefined)));
    return { digest, found: true };
  }

  /** True if one of the objects was looked for and not found. */
  areMissing(digests: ReadonlySet<string>): boolean {
    for (const digest of digests) {
      if ((this.#reads.get(digest)?.attempts ?? 0) > 0) {
        return true;
      }
    }
    return false;
  }

  /** Nobody needs the object any more. */
  abandon(digest: string): void {
    this.#reads.delete(digest);
  }

  /** An object turned out not to be what its digest says: it is read again. */
  distrust(digest: string): void {
    this.#kept.delete(digest);
    this.#reads.delete(digest);
  }

  /** True if the tag is one of a read of an object. */
  static isTag(tag: string): boolean {
    return tag.startsWith(TAG);
  }

  #readPart(digest: string, read: Read, index: number): Effect {
    this.#open += 1;
    read.open += 1;
    const tag = `${TAG}${digest}:${index}`;
    const subject = this.#subject(digest, index);
    return { kind: "fork", effects: [{ kind: "read-last", tag, stream: "CONTENT", subject }] };
  }

  #complete(digest: string, bytes: Uint8Array): string {
    this.#partial.delete(digest);
    this.#reads.delete(digest);
    this.#kept.set(digest, bytes);
    return digest;
  }
}

function partCount(record: StoredRecord): number {
  const count = Number(record.headers[COUNT_HEADER] ?? "1");
  return Number.isInteger(count) && count > 1 ? Math.min(count, PARTS_LIMIT) : 1;
}

function isWhole(parts: readonly (Uint8Array | undefined)[], count: number): boolean {
  for (let index = 0; index < count; index += 1) {
    if (parts[index] === undefined) {
      return false;
    }
  }
  return true;
}
