import type { Msg, Subscription } from "@nats-io/nats-core";
import type { Inbox, ListenEffect } from "@ringwall/actor";
import type { Bus } from "../connect.ts";
import type { Discovery, EndpointCount } from "../discovery.ts";
import { isDenied } from "../errors.ts";
import { fromWire, HEADER } from "./headers.ts";

/** Requests that wait for an answer; the oldest is forgotten (not refused) beyond this. */
const OPEN_REQUESTS = 65_536;

/** Pause before a subscription that the server refused is tried again: permissions are mended live. */
const RELISTEN_MS = 5000;

interface Listener {
  readonly subscription: Subscription;
  readonly count: EndpointCount | undefined;
}

interface OpenRequest {
  readonly count: EndpointCount | undefined;
  readonly sinceMs: number;
}

/** The core subscriptions of one actor and the requests that wait for its answer. */
export class Listeners {
  readonly #bus: Bus;
  readonly #inbox: Inbox;
  readonly #discovery: Discovery | undefined;
  readonly #listeners = new Map<string, Listener>();
  /** Refused subscriptions with the reason; each is tried again. */
  readonly #refused = new Map<
    string,
    { readonly reason: string; readonly retry: NodeJS.Timeout }
  >();
  readonly #open = new Map<string, OpenRequest>();
  readonly #apiPrefix: string;
  readonly #agentPrefix: string;

  constructor(bus: Bus, inbox: Inbox, discovery: Discovery | undefined) {
    this.#bus = bus;
    this.#inbox = inbox;
    this.#discovery = discovery;
    this.#apiPrefix = `${bus.names.prefix}.api.`;
    this.#agentPrefix = `${bus.names.prefix}.agent.`;
  }

  /** Why listeners hear nothing, by their subjects; empty if all hear. */
  get problems(): readonly string[] {
    return [...this.#refused.values()].map(({ reason }) => reason);
  }

  /** Starts a listener; one with the same id is ended first. */
  listen(effect: ListenEffect): void {
    this.unlisten(effect.listener);
    this.#subscribe(effect, true);
  }

  #subscribe(effect: ListenEffect, first: boolean): void {
    const count = effect.subject.startsWith(this.#apiPrefix)
      ? this.#discovery?.add(effect.subject, effect.queue)
      : undefined;
    const subscription = this.#bus.nc.subscribe(effect.subject, {
      ...(effect.queue === undefined ? {} : { queue: effect.queue }),
      callback: (error, message) => {
        if (error === null) {
          this.#deliver(effect.listener, message, count);
        } else {
          this.#fail(effect, error, first);
        }
      },
    });
    this.#listeners.set(effect.listener, { subscription, count });
    if (!first) {
      void this.#heal(effect.listener, subscription);
    }
  }

  // The server refuses before it answers a flush.
  async #heal(id: string, subscription: Subscription): Promise<void> {
    await this.#bus.nc.flush().catch(() => undefined);
    if (this.#listeners.get(id)?.subscription === subscription) {
      this.#refused.delete(id);
    }
  }

  /** Ends a listener; unknown ids are fine. */
  unlisten(id: string): void {
    this.#forgive(id);
    const listener = this.#listeners.get(id);
    this.#listeners.delete(id);
    listener?.count?.remove();
    listener?.subscription.unsubscribe();
  }

  /** Answers a request; false if nobody asked or it was answered already. */
  reply(to: string, payload: Uint8Array): boolean {
    const request = this.#open.get(to);
    if (request === undefined) {
      return false;
    }
    this.#open.delete(to);
    request.count?.answered(performance.now() - request.sinceMs);
    if (this.#bus.connected) {
      this.#bus.nc.publish(to, payload);
    }
    return true;
  }

  /** Takes no more messages; those that were received are still delivered. */
  drain(): void {
    for (const id of [...this.#refused.keys()]) {
      this.#forgive(id);
    }
    for (const [id, { subscription, count }] of this.#listeners) {
      this.#listeners.delete(id);
      count?.remove();
      // A connection that is away or closed has nothing to drain.
      subscription.drain().catch(() => undefined);
    }
  }

  #deliver(listener: string, message: Msg, count: EndpointCount | undefined): void {
    const headers = fromWire(message.headers);
    const trace = headers[HEADER.trace];
    // No reply subject that an agent chose is ever published to.
    const replyTo = message.subject.startsWith(this.#agentPrefix) ? "" : (message.reply ?? "");
    if (replyTo !== "") {
      count?.requested();
      this.#open.set(replyTo, { count, sinceMs: performance.now() });
      if (this.#open.size > OPEN_REQUESTS) {
        const [oldest] = this.#open.keys();
        if (oldest !== undefined) {
          this.#open.get(oldest)?.count?.failed("not answered");
          this.#open.delete(oldest);
        }
      }
    }
    this.#inbox.deliver({
      kind: "delivery",
      listener,
      subject: message.subject,
      payload: message.data.slice(),
      headers,
      ...(replyTo === "" ? {} : { replyTo }),
      ...(trace === undefined ? {} : { trace }),
    });
  }

  #forgive(id: string): void {
    clearTimeout(this.#refused.get(id)?.retry);
    this.#refused.delete(id);
  }

  /** The actor is told once; the service says that it does not serve until the server accepts. */
  #fail(effect: ListenEffect, error: Error, first: boolean): void {
    const { listener, subject } = effect;
    this.#listeners.get(listener)?.count?.remove();
    this.#listeners.delete(listener);
    this.#forgive(listener);
    const retry = setTimeout(() => {
      // A connection that was closed meanwhile takes no subscription.
      if (!this.#bus.nc.isClosed()) {
        this.#subscribe(effect, false);
      }
    }, RELISTEN_MS);
    this.#refused.set(listener, { reason: `listening on ${subject}: ${error.message}`, retry });
    if (first) {
      this.#inbox.deliver({
        kind: "failed",
        tag: listener,
        effect: "listen",
        code: isDenied(error) ? "denied" : "unavailable",
        detail: error.message,
      });
    }
  }
}
