import type { Effect } from "@ringwall/actor";
import { HEADER, purgeHeaders } from "./driver/headers.ts";

/** An instance that could not renew for this long gives its slots up by itself. */
const OWN_LEASE_MS = 5000;
/** Keys of instances that ended without a word go by themselves. */
const INSTANCE_TTL = "60s";

/** Tag of the appends that renew. */
export const RENEW = "slots.renew";

/**
 * The key of one instance in OWNERS, which says that it lives. Nobody else writes it, so each renewal
 * is fenced by the one before it: where that is not in its place any more, OWNERS was lost and has
 * grown again, and whatever was read of it is of another life.
 */
export class SlotLease {
  readonly #subject: string;
  readonly #instance: string;
  readonly #nextWrite: () => string;
  #renewing = false;
  #storedAt: number | undefined;
  #renewedMs = Number.NEGATIVE_INFINITY;

  /** `subject` is the key's; `nextWrite` gives unique ids of writes. */
  constructor(subject: string, instance: string, nextWrite: () => string) {
    this.#subject = subject;
    this.#instance = instance;
    this.#nextWrite = nextWrite;
  }

  /** True as long as others count this instance as live. */
  isFresh(nowMs: number): boolean {
    return nowMs - this.#renewedMs <= OWN_LEASE_MS;
  }

  /** Stores the key again; nothing while that is under way. */
  renew(): Effect[] {
    if (this.#renewing) {
      return [];
    }
    this.#renewing = true;
    const append: Effect = {
      kind: "append",
      tag: RENEW,
      stream: "OWNERS",
      subject: this.#subject,
      payload: new TextEncoder().encode(this.#instance),
      headers: { [HEADER.ttl]: INSTANCE_TTL },
      ...(this.#storedAt === undefined
        ? {}
        : { expect: { sequence: this.#storedAt }, write: this.#nextWrite() }),
    };
    return [{ kind: "fork", effects: [append] }];
  }

  /** Takes the answer to a renewal. */
  renewed(sequence: number, nowMs: number): void {
    this.#renewing = false;
    this.#renewedMs = nowMs;
    this.#storedAt = sequence;
  }

  /** Takes the failure of a renewal. */
  failed(): void {
    this.#renewing = false;
  }

  /** Lets the next renewal be stored whatever is there. */
  forgetPlace(): void {
    this.#storedAt = undefined;
  }

  /** Removes the key. */
  end(): Effect[] {
    const append: Effect = {
      kind: "append",
      tag: "slots.goodbye",
      stream: "OWNERS",
      subject: this.#subject,
      payload: new Uint8Array(),
      headers: purgeHeaders(INSTANCE_TTL),
    };
    return [{ kind: "fork", effects: [append] }];
  }
}
