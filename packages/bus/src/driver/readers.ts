import type { FollowEffect, Inbox } from "@ringwall/actor";
import type { Bus } from "../connect.ts";
import { OrderedReader } from "./reader.ts";

const SILENCE_CHECK_MS = 500;

/** All ordered readers of one actor. */
export class Readers {
  readonly #bus: Bus;
  readonly #inbox: Inbox;
  readonly #consumerPrefix: string;
  readonly #onLost: () => void;
  readonly #readers = new Map<string, OrderedReader>();
  readonly #check: NodeJS.Timeout;
  #consumers = 0;

  /** `owner` (service and instance) becomes part of each consumer's name. */
  constructor(bus: Bus, inbox: Inbox, owner: string, onLost: () => void = () => undefined) {
    this.#bus = bus;
    this.#onLost = onLost;
    this.#inbox = inbox;
    this.#consumerPrefix = `${bus.names.prefix}-${owner}`.replace(/[^A-Za-z0-9_-]/g, "_");
    this.#check = setInterval(() => {
      for (const reader of this.#readers.values()) {
        reader.checkSilence(performance.now());
      }
    }, SILENCE_CHECK_MS);
  }

  /** Readers that are alive. */
  get size(): number {
    return this.#readers.size;
  }

  /** Why readers deliver nothing, by their streams; empty if none is refused. */
  get problems(): readonly string[] {
    const all = [...this.#readers.values()].flatMap(({ problem }) => problem ?? []);
    return [...new Set(all)];
  }

  /** Starts a reader; one with the same id is ended first. */
  follow(effect: FollowEffect): void {
    this.unfollow(effect.reader);
    const reader: OrderedReader = new OrderedReader(this.#bus, effect, {
      inbox: this.#inbox,
      consumerName: () => {
        this.#consumers += 1;
        return `${this.#consumerPrefix}-${this.#consumers}`;
      },
      lost: () => {
        if (this.#readers.get(effect.reader) === reader) {
          this.#readers.delete(effect.reader);
        }
        this.#onLost();
      },
    });
    this.#readers.set(effect.reader, reader);
  }

  /** Ends a reader; unknown ids are fine. */
  unfollow(id: string): void {
    this.#readers.get(id)?.end();
    this.#readers.delete(id);
  }

  /** Makes every reader begin behind its last message with a consumer of its own. */
  restartAll(): void {
    for (const reader of this.#readers.values()) {
      reader.restart();
    }
  }

  /** Ends all. */
  close(): void {
    clearInterval(this.#check);
    for (const id of [...this.#readers.keys()]) {
      this.unfollow(id);
    }
  }
}
