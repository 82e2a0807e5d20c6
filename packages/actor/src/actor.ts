import { Chain, type ChainHost } from "./chain.ts";
import type { Clock } from "./clock.ts";
import type { Driver, Inbox } from "./driver.ts";
import type { Effect, TimerEffect } from "./effect.ts";
import { Mailbox } from "./mailbox.ts";
import type { Message } from "./message.ts";
import type { Moment, Reducer } from "./reducer.ts";

/** Readers pause while more messages than this wait. */
export const MAILBOX_MARK = 4096;

/** Readers pause while more payload bytes than this wait. */
export const MAILBOX_MARK_BYTES = 32 * 1024 * 1024;

/** Core deliveries are dropped and counted while more messages than this wait. */
export const MAILBOX_LIMIT = 262_144;

/** What an actor is made of. */
export interface ActorParts {
  readonly reducer: Reducer;
  readonly driver: Driver;
  readonly clock: Clock;
  /** Called whenever a message waits and none did before. */
  readonly wake?: () => void;
}

/**
 * A reducer with its mailbox and the chains of effects that its steps began. It runs nothing by
 * itself: `stepOnce` takes one message, so that a pump or a simulator decides when.
 */
export class Actor implements Inbox {
  readonly #reducer: Reducer;
  readonly #driver: Driver;
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #mailbox = new Mailbox();
  readonly #timers = new Map<string, () => void>();
  readonly #waiting: (() => void)[] = [];
  /** What every chain of this actor is run by. */
  readonly #host: ChainHost;
  readonly #random: () => number;
  #chains = 0;
  #dropped = 0;
  #lastMonotonicMs = 0;
  #closed = false;

  constructor(parts: ActorParts) {
    this.#reducer = parts.reducer;
    this.#driver = parts.driver;
    this.#clock = parts.clock;
    this.#wake = parts.wake ?? (() => undefined);
    this.#host = this.#chainHost();
    this.#random = () => this.#clock.random();
    this.#driver.attach(this);
  }

  /** Messages waiting. */
  get depth(): number {
    return this.#mailbox.depth;
  }

  /** Payload bytes waiting. */
  get bytes(): number {
    return this.#mailbox.bytes;
  }

  /** Chains that wait for an acknowledgement. */
  get chains(): number {
    return this.#chains;
  }

  /** Core deliveries dropped because the mailbox was at its limit. */
  get dropped(): number {
    return this.#dropped;
  }

  /** True while the mailbox is over its marks. */
  get full(): boolean {
    return this.#mailbox.depth >= MAILBOX_MARK || this.#mailbox.bytes >= MAILBOX_MARK_BYTES;
  }

  /** Calls back once when the mailbox is below its marks. */
  whenRoom(call: () => void): void {
    if (this.full) {
      this.#waiting.push(call);
    } else {
      call();
    }
  }

  /** Puts a message at the end of the mailbox. */
  deliver(message: Message): void {
    if (this.#closed) {
      return;
    }
    if (message.kind === "delivery" && this.#mailbox.depth >= MAILBOX_LIMIT) {
      this.#dropped += 1;
      return;
    }
    this.#mailbox.push(message);
    if (this.#mailbox.depth === 1) {
      this.#wake();
    }
  }

  /**
   * Steps the reducer with the oldest message and returns that message's kind, undefined if none
   * waits. What the reducer throws passes through.
   */
  stepOnce(): Message["kind"] | undefined {
    const message = this.#mailbox.take();
    if (message === undefined) {
      return undefined;
    }
    this.#begin(this.#reducer.step(message, this.#moment()));
    while (this.#waiting.length > 0 && !this.full) {
      this.#waiting.shift()?.();
    }
    return message.kind;
  }

  /** Drops what waits, takes back all timers and ignores whatever comes later: the actor's death. */
  close(): void {
    this.#closed = true;
    for (const cancel of this.#timers.values()) {
      cancel();
    }
    this.#timers.clear();
    while (this.#mailbox.take() !== undefined) {
      // Emptied so that nothing of it stays reachable.
    }
  }

  #moment(): Moment {
    const monotonicMs = this.#clock.monotonicMs();
    if (monotonicMs < this.#lastMonotonicMs) {
      throw new Error(`monotonic clock went back from ${this.#lastMonotonicMs} to ${monotonicMs}`);
    }
    this.#lastMonotonicMs = monotonicMs;
    return { wallMs: this.#clock.wallMs(), monotonicMs, random: this.#random };
  }

  #begin(effects: readonly Effect[]): void {
    if (effects.length === 0) {
      return;
    }
    this.#chains += 1;
    new Chain(this.#host, effects).run();
  }

  #chainHost(): ChainHost {
    return {
      perform: (effect, done) => {
        if (!this.#closed) {
          this.#driver.perform(effect, done);
        }
      },
      deliver: (message) => this.deliver(message),
      timer: (effect) => this.#setTimer(effect),
      cancelTimer: (effect) => this.#cancelTimer(effect.id),
      fork: (forked) => this.#begin(forked),
      ended: () => {
        this.#chains -= 1;
      },
    };
  }

  #setTimer(effect: TimerEffect): void {
    this.#cancelTimer(effect.id);
    if (this.#closed) {
      return;
    }
    const cancel = this.#clock.after(effect.delayMs, () => {
      this.#timers.delete(effect.id);
      this.deliver({ kind: "timer", id: effect.id });
    });
    this.#timers.set(effect.id, cancel);
  }

  #cancelTimer(id: string): void {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
  }
}
