import { RequestError, TimeoutError } from "@nats-io/nats-core";
import {
  type Clock,
  DONE,
  type Driver,
  failure,
  type Inbox,
  type Outcome,
  type OutsideEffect,
  type PublishEffect,
  type ReplyEffect,
  type RequestEffect,
} from "@ringwall/actor";
import type { Telemetry } from "@ringwall/telemetry";
import type { Bus } from "../connect.ts";
import type { Discovery } from "../discovery.ts";
import { isDenied } from "../errors.ts";
import { append } from "./append.ts";
import { HEADER, toWire } from "./headers.ts";
import { Listeners } from "./listeners.ts";
import { readAt, readLast, readStreamInfo } from "./read.ts";
import { Readers } from "./readers.ts";
import { trim } from "./trim.ts";

/** Bytes that may be published before the server has shown that it keeps up. */
const UNFLUSHED_BYTES = 8 * 1024 * 1024;

/** What the driver of one actor works with. */
export interface NatsDriverParts {
  readonly bus: Bus;
  readonly clock: Clock;
  /** Takes the effects that are telemetry's. */
  readonly telemetry: Pick<Telemetry, "perform">;
  /** Service and instance, for the names of consumers. */
  readonly owner: string;
  /** Told when the actor says whether it serves. */
  readonly onReady?: (ready: boolean, reason: string) => void;
  readonly discovery?: Discovery;
  /** Told when a reader was lost, before the actor is: its stream may have to be created. */
  readonly onReaderLost?: () => void;
}

/** Performs effects on a real NATS. */
export class NatsDriver implements Driver {
  readonly #parts: NatsDriverParts;
  #inbox: Inbox | undefined;
  #readers: Readers | undefined;
  #listeners: Listeners | undefined;
  #unflushedBytes = 0;
  #flush: Promise<void> | undefined;

  constructor(parts: NatsDriverParts) {
    this.#parts = parts;
  }

  attach(inbox: Inbox): void {
    const { bus, owner, discovery } = this.#parts;
    this.#inbox = inbox;
    this.#readers = new Readers(bus, inbox, owner, this.#parts.onReaderLost);
    this.#listeners = new Listeners(bus, inbox, discovery);
  }

  /** What the server refuses: listeners that hear nothing, readers that deliver nothing. */
  get problems(): readonly string[] {
    return [...(this.#listeners?.problems ?? []), ...(this.#readers?.problems ?? [])];
  }

  /** Call after a reconnect: readers go on where they were, and the actor is told. */
  reconnected(): void {
    this.#readers?.restartAll();
    this.#inbox?.deliver({ kind: "reconnected" });
  }

  quiesce(): void {
    this.#readers?.close();
    this.#listeners?.drain();
  }

  perform(effect: OutsideEffect, done: (outcome: Outcome) => void): void {
    const { bus, clock, telemetry } = this.#parts;
    switch (effect.kind) {
      case "append":
        settle(
          append(bus, effect, () => clock.monotonicMs()),
          done,
        );
        return;
      case "publish":
        this.#publish(effect, done);
        return;
      case "request":
        settle(this.#request(effect), done);
        return;
      case "reply":
        done(this.#reply(effect));
        return;
      case "read-last":
        settle(readLast(bus, effect.stream, effect.subject, effect.tag), done);
        return;
      case "read-at":
        settle(readAt(bus, effect.stream, effect.sequence, effect.tag), done);
        return;
      case "stream-info":
        settle(readStreamInfo(bus, effect.stream, effect.tag), done);
        return;
      case "trim":
        settle(trim(bus, effect), done);
        return;
      case "follow":
        this.#readers?.follow(effect);
        break;
      case "unfollow":
        this.#readers?.unfollow(effect.reader);
        break;
      case "listen":
        this.#listeners?.listen(effect);
        break;
      case "unlisten":
        this.#listeners?.unlisten(effect.listener);
        break;
      case "ready":
        this.#parts.onReady?.(effect.ready, effect.reason ?? "");
        break;
      default:
        telemetry.perform(effect);
    }
    done(DONE);
  }

  #publish(effect: PublishEffect, done: (outcome: Outcome) => void): void {
    const { bus, telemetry } = this.#parts;
    const tooLarge = this.#tooLarge(effect.subject, effect.payload);
    if (tooLarge !== undefined) {
      done(tooLarge);
      return;
    }
    if (!bus.connected) {
      // At most once: what can't be sent now is not kept.
      telemetry.perform({ kind: "count", name: "ringwall_bus_publish_dropped_total" });
      done(DONE);
      return;
    }
    const headers = toWire(
      effect.headers,
      effect.trace === undefined ? undefined : { [HEADER.trace]: effect.trace },
    );
    bus.nc.publish(effect.subject, effect.payload, headers === undefined ? {} : { headers });
    this.#unflushedBytes += effect.payload.length + effect.subject.length;
    if (this.#unflushedBytes < UNFLUSHED_BYTES) {
      done(DONE);
      return;
    }
    // The chain waits until the server has read it all, so a slow server slows its writers down.
    this.#flush ??= bus.nc
      .flush()
      .catch(() => undefined)
      .finally(() => {
        this.#unflushedBytes = 0;
        this.#flush = undefined;
      });
    void this.#flush.then(() => done(DONE));
  }

  async #request(effect: RequestEffect): Promise<Outcome> {
    const { bus } = this.#parts;
    const tooLarge = this.#tooLarge(effect.subject, effect.payload);
    if (tooLarge !== undefined) {
      return tooLarge;
    }
    const headers = toWire(
      effect.trace === undefined ? undefined : { [HEADER.trace]: effect.trace },
    );
    try {
      const answer = await bus.nc.request(effect.subject, effect.payload, {
        timeout: effect.timeoutMs,
        ...(headers === undefined ? {} : { headers }),
      });
      return {
        ok: true,
        message: { kind: "response", tag: effect.tag, payload: answer.data.slice() },
      };
    } catch (error) {
      const detail = `${effect.subject}: ${error instanceof Error ? error.message : String(error)}`;
      if (isDenied(error)) {
        return failure("denied", detail);
      }
      if (error instanceof RequestError && error.isNoResponders()) {
        return failure("no-responders", detail);
      }
      return failure(error instanceof TimeoutError ? "timeout" : "unavailable", detail);
    }
  }

  #reply(effect: ReplyEffect): Outcome {
    const tooLarge = this.#tooLarge(effect.to, effect.payload);
    if (tooLarge !== undefined) {
      return tooLarge;
    }
    return this.#listeners?.reply(effect.to, effect.payload) === true
      ? DONE
      : failure("not-found", `${effect.to} asked nothing that is still unanswered`);
  }

  #tooLarge(subject: string, payload: Uint8Array): Outcome | undefined {
    const limit = this.#parts.bus.nc.info?.max_payload ?? Number.POSITIVE_INFINITY;
    return payload.length <= limit
      ? undefined
      : failure(
          "too-large",
          `message for ${subject} has ${payload.length} bytes, ${limit} allowed`,
        );
  }
}

// What an effect's implementation does not foresee still ends the effect.
function settle(outcome: Promise<Outcome>, done: (outcome: Outcome) => void): void {
  outcome.then(done, (error: unknown) => {
    done(failure("unavailable", error instanceof Error ? error.message : String(error)));
  });
}
