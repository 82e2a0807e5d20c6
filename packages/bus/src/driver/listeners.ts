import type { Msg, Subscription } from "@nats-io/nats-core";
import type { Inbox, ListenEffect } from "@ringwall/actor";
import type { Bus } from "../connect.ts";
import type { Discovery, EndpointCount } from "../discovery.ts";
import { isDenied } from "../errors.ts";
import { fromWire, HEADER } from "./headers.ts";

/** Requests that wait for an answer; the oldest is forgotten (not refused) beyond this. */
const OPEN_REQUESTS = 65_536;

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

  /** Starts a listener; one with the same id is ended first. */
  listen(effect: ListenEffect): void {
    this.unlisten(effect.listener);
    const count = effect.subject.startsWith(this.#apiPrefix)
      ? this.#discovery?.add(effect.subject, effect.queue)
      : undefined;
    const subscription = this.#bus.nc.subscribe(effect.subject, {
      ...(effect.queue === undefined ? {} : { queue: effect.queue }),
      callback: (error, message) => {
        if (error === null) {
          this.#deliver(effect.listener, message, count);
        } else {
          this.#fail(effect.listener, error);
        }
      },
    });
    this.#listeners.set(effect.listener, { subscription, count });
  }

  /** Ends a listener; unknown ids are fine. */
  unlisten(id: string): void {
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

  #fail(listener: string, error: Error): void {
    this.#listeners.get(listener)?.count?.remove();
    this.#listeners.delete(listener);
    this.#inbox.deliver({
      kind: "failed",
      tag: listener,
      effect: "listen",
      code: isDenied(error) ? "denied" : "unavailable",
      detail: error.message,
    });
  }
}
