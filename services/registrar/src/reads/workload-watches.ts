import type { Effect, Message, Moment } from "@ringwall/actor";
import { type Names, WatchServer } from "@ringwall/bus";
import { WatchResponseSchema, WatchWorkloadsRequestSchema } from "@ringwall/wire";
import type { Outbox } from "../outbox.ts";
import type { Registry } from "../registry.ts";
import { type Delivery, readRequest, reply, unreadable } from "../reply.ts";
import { READ_QUEUE } from "./read-endpoints.ts";
import { REVISION_WAIT_MS } from "./revision-waiters.ts";
import { WatchCursor } from "./watch-cursor.ts";
import { compileFilter, filterFault } from "./workload-filter.ts";

const LISTENER = "read.watch";

/** Timer that sends what has changed. */
export const WATCH_TIMER = "reads.watch";

/** Streams that one instance serves: each costs a cursor and a bit for every workload. */
const STREAMS_MAX = 4_096;

/** Changes within this time go out together. */
const GATHER_MS = 5;

/** Streams of workloads, each from this instance's fold. */
export class WorkloadWatches {
  readonly #names: Names;
  readonly #registry: Registry;
  readonly #out: Outbox;
  readonly #server: WatchServer<WatchCursor>;
  #nowMs = 0;
  #gathering = false;

  constructor(names: Names, instance: string, registry: Registry, out: Outbox) {
    this.#names = names;
    this.#registry = registry;
    this.#out = out;
    this.#server = new WatchServer({
      names,
      instance,
      noun: "workload",
      limit: STREAMS_MAX,
      next: (cursor, maxBytes) => cursor.next(maxBytes, this.#nowMs),
    });
  }

  /** Open streams. */
  get size(): number {
    return this.#server.size;
  }

  /** Begins to take new streams. */
  open(): void {
    const subject = this.#names.api("workload", "watch");
    this.#out.fork({ kind: "listen", listener: LISTENER, subject, queue: READ_QUEUE });
  }

  /** Takes no new streams. */
  close(): void {
    this.#out.push({ kind: "unlisten", listener: LISTENER });
  }

  /** Takes every message of the service. */
  step(message: Message, moment: Moment): void {
    this.#nowMs = moment.monotonicMs;
    this.#push(this.#server.step(message, moment));
    if (message.kind === "delivery" && message.listener === LISTENER) {
      this.#begin(message, moment);
    } else if (message.kind === "timer" && message.id === WATCH_TIMER) {
      this.#gathering = false;
      this.#push(this.#server.changed());
    }
  }

  /** The fold changed. */
  changed(): void {
    if (!this.#gathering && this.#server.size > 0) {
      this.#gathering = true;
      this.#out.push({ kind: "timer", id: WATCH_TIMER, delayMs: GATHER_MS });
    }
  }

  #begin(delivery: Delivery, moment: Moment): void {
    const schema = WatchResponseSchema;
    const request = readRequest(WatchWorkloadsRequestSchema, delivery.payload);
    if (request === undefined) {
      reply(this.#out, delivery.replyTo, schema, {
        error: unreadable(WatchWorkloadsRequestSchema),
      });
      return;
    }
    if (delivery.replyTo === undefined) {
      return;
    }
    try {
      const cursor = new WatchCursor(this.#registry, {
        filter: compileFilter(request.filter),
        resumeRevision: Number(request.resumeRevision),
        resumeFilter:
          request.resumeFilter === undefined ? undefined : compileFilter(request.resumeFilter),
        untilMs: moment.monotonicMs + REVISION_WAIT_MS,
      });
      this.#push(this.#server.open(delivery.replyTo, request.inbox, cursor, moment));
    } catch (error) {
      const message = filterFault(error);
      reply(this.#out, delivery.replyTo, schema, { error: { code: "invalid", message } });
    }
  }

  #push(effects: readonly Effect[]): void {
    this.#out.push(...effects);
  }
}
