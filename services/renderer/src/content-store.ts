import { chain, type Effect, signalled, type Task } from "@ringwall/actor";
import { HEADER } from "@ringwall/bus";
import type { Context } from "./context.ts";
import { COUNT_HEADER, splitParts } from "./parts.ts";

/** Objects put by one chain. */
const OBJECTS_PER_CHAIN = 512;

const SIGNAL = "content";

/** Content objects by digest in hex. */
export type Objects = ReadonlyMap<string, Uint8Array>;

/** Puts content objects into CONTENT and remembers what is stored there and since when. */
export class ContentStore {
  readonly #context: Context;
  /** Monotonic time of the last put. */
  readonly #stored = new Map<string, number>();
  readonly #putting = new Map<string, Uint8Array>();
  #prunedMs = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  /**
   * Makes sure that objects are stored, and were put within the last `maxAgeMs` (default 1 h); only
   * then may they be named. Throws EffectFailed.
   */
  *ensure(objects: Objects, maxAgeMs: number = this.#context.options.contentAgeMs): Task<void> {
    for (;;) {
      const missing = [...objects].filter(([digest]) => !this.isFresh(digest, maxAgeMs));
      if (missing.length === 0) {
        return;
      }
      const mine = missing.filter(([digest]) => !this.#putting.has(digest));
      if (mine.length > 0) {
        yield* this.#put(mine.slice(0, OBJECTS_PER_CHAIN));
      } else {
        // Somebody else is putting the rest; should that fail, the next look takes it over.
        yield* signalled(SIGNAL, this.#context.options.retryMs);
      }
    }
  }

  /** Bytes of an object that is being put. */
  pending(digest: string): Uint8Array | undefined {
    return this.#putting.get(digest);
  }

  /** True if the object was put within the last `maxAgeMs` (default 1 h). */
  isFresh(digest: string, maxAgeMs: number = this.#context.options.contentAgeMs): boolean {
    const storedMs = this.#stored.get(digest);
    return storedMs !== undefined && this.#context.moment().monotonicMs - storedMs <= maxAgeMs;
  }

  *#put(objects: readonly (readonly [string, Uint8Array])[]): Task<void> {
    const beganMs = this.#context.moment().monotonicMs;
    this.#prune(beganMs);
    for (const [digest, bytes] of objects) {
      this.#putting.set(digest, bytes);
    }
    try {
      yield* chain((tag) =>
        objects.flatMap(([digest, bytes]) => this.#appends(tag, digest, bytes)),
      );
      for (const [digest] of objects) {
        this.#stored.set(digest, beganMs);
      }
      this.#context.outbox.count("ringwall_content_put_total", {}, objects.length);
    } finally {
      for (const [digest] of objects) {
        this.#putting.delete(digest);
      }
      this.#context.tasks.signal(SIGNAL);
    }
  }

  /** Forgets what would be put again anyway, so that old content takes no memory. */
  #prune(nowMs: number): void {
    const { contentAgeMs } = this.#context.options;
    if (nowMs - this.#prunedMs < contentAgeMs) {
      return;
    }
    this.#prunedMs = nowMs;
    for (const [digest, storedMs] of this.#stored) {
      if (nowMs - storedMs > contentAgeMs) {
        this.#stored.delete(digest);
      }
    }
  }

  #appends(tag: string, digest: string, bytes: Uint8Array): Effect[] {
    const parts = splitParts(bytes);
    const headers = { [HEADER.type]: "Content", [COUNT_HEADER]: String(parts.length) };
    return parts.map((payload, index) => ({
      kind: "append",
      tag,
      stream: "CONTENT",
      subject: this.#context.names.content(digest, index),
      payload,
      headers,
    }));
  }
}
