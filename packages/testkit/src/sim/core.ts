import type { Headers } from "@ringwall/actor";
import type { Faults } from "./faults.ts";
import type { Schedule } from "./schedule.ts";
import { isWild, subjectMatches } from "./subject.ts";

/** A message on its way to a subscriber. */
export interface CoreMessage {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: Headers;
  readonly replyTo: string | undefined;
}

/** Someone who listens. */
export interface Subscription {
  readonly filter: string;
  readonly queue: string | undefined;
  /** Names the connection, for the order of messages between two. */
  readonly owner: string;
  take(message: CoreMessage): void;
}

/** What core messaging needs of its world. */
export interface CoreHost {
  readonly schedule: Schedule;
  readonly faults: Faults;
  random(): number;
}

const LATENCY_MS = 0.2;
const JITTER_MS = 0.6;

/**
 * Core NATS: publish and subscribe with queue groups, at most once. Messages between two connections
 * keep their order unless a fault lets one overtake.
 */
export class SimCore {
  readonly #host: CoreHost;
  /** Those on one subject, by it, and those on many. */
  readonly #exact = new Map<string, Set<Subscription>>();
  readonly #wild = new Set<Subscription>();
  #size = 0;
  readonly #arrivals = new Map<string, number>();

  constructor(host: CoreHost) {
    this.#host = host;
  }

  /** Subscriptions that are open. */
  get size(): number {
    return this.#size;
  }

  subscribe(subscription: Subscription): () => void {
    const set = this.#setOf(subscription.filter);
    set.add(subscription);
    this.#size += 1;
    return () => {
      if (!set.delete(subscription)) {
        return;
      }
      this.#size -= 1;
      if (set.size === 0 && set !== this.#wild) {
        this.#exact.delete(subscription.filter);
      }
    };
  }

  /** True if anybody listens on a subject. */
  hasListener(subject: string): boolean {
    if (this.#exact.has(subject)) {
      return true;
    }
    for (const each of this.#wild) {
      if (subjectMatches(each.filter, subject)) {
        return true;
      }
    }
    return false;
  }

  /** Sends a message from a connection to whoever listens: one of each queue group, all others. */
  publish(from: string, message: CoreMessage): void {
    const listeners = this.#listeners(message.subject);
    const receivers = listeners.filter(({ queue }) => queue === undefined);
    for (const members of receivers.length < listeners.length ? queueGroups(listeners) : []) {
      const chosen = members[Math.floor(this.#host.random() * members.length)];
      if (chosen !== undefined) {
        receivers.push(chosen);
      }
    }
    for (const receiver of receivers) {
      this.#send(from, receiver, message);
    }
  }

  #listeners(subject: string): Subscription[] {
    const listeners = [...(this.#exact.get(subject) ?? [])];
    for (const each of this.#wild) {
      if (subjectMatches(each.filter, subject)) {
        listeners.push(each);
      }
    }
    return listeners;
  }

  /** The set that a filter's subscriptions are in; while it holds none, it is not looked up. */
  #setOf(filter: string): Set<Subscription> {
    if (isWild(filter)) {
      return this.#wild;
    }
    const set = this.#exact.get(filter) ?? new Set();
    this.#exact.set(filter, set);
    return set;
  }

  #isOpen(subscription: Subscription): boolean {
    const set = isWild(subscription.filter) ? this.#wild : this.#exact.get(subscription.filter);
    return set?.has(subscription) === true;
  }

  #send(from: string, receiver: Subscription, message: CoreMessage): void {
    const { faults, schedule } = this.#host;
    const chance = (likelihood: number) => likelihood > 0 && this.#host.random() < likelihood;
    if (chance(faults.lose)) {
      return;
    }
    const deliver = () => {
      if (this.#isOpen(receiver)) {
        receiver.take(message);
      }
    };
    let delayMs = LATENCY_MS + this.#host.random() * JITTER_MS;
    if (chance(faults.delay)) {
      delayMs += this.#host.random() * faults.delayMs;
    }
    if (chance(faults.duplicate)) {
      schedule.after(delayMs + this.#host.random() * (faults.delayMs + JITTER_MS), deliver);
    }
    if (!chance(faults.reorder)) {
      const pair = `${from} ${receiver.owner}`;
      const arrivalMs = Math.max(schedule.nowMs + delayMs, this.#arrivals.get(pair) ?? 0);
      this.#arrivals.set(pair, arrivalMs);
      delayMs = arrivalMs - schedule.nowMs;
    }
    schedule.after(delayMs, deliver);
  }
}

/** Those that share messages with others, each queue group's together. */
function queueGroups(listeners: readonly Subscription[]): Iterable<readonly Subscription[]> {
  const groups = new Map<string, Subscription[]>();
  for (const each of listeners) {
    if (each.queue !== undefined) {
      const group = `${each.queue} ${each.filter}`;
      const members = groups.get(group);
      if (members === undefined) {
        groups.set(group, [each]);
      } else {
        members.push(each);
      }
    }
  }
  return groups.values();
}
