import type { Moment } from "@ringwall/actor";
import { childTrace } from "@ringwall/actor";
import type { Outbox } from "../outbox.ts";
import type { Delivery, Flight, Session } from "./session.ts";

/** Follows changes from the log to the acknowledgements of the agents that they concern. */
export class Deliveries {
  readonly #out: Outbox;

  constructor(out: Outbox) {
    this.#out = out;
  }

  /** The session has to get this change; an earlier one that was not sent yet is coalesced into it. */
  assign(session: Session, delivery: Delivery, moment: Moment): void {
    if (session.delivery !== undefined) {
      this.#out.count("ringwall_coalesced_pushes_total");
      this.#close(session.delivery, moment);
    }
    session.delivery = delivery;
    delivery.open += 1;
  }

  /** A push was acknowledged. */
  acked(flight: Flight, moment: Moment): void {
    const out = this.#out;
    const tookMs = moment.monotonicMs - flight.sentMs;
    out.add({ kind: "observe", name: "ringwall_push_ack_seconds", value: tookMs / 1000 });
    const { delivery } = flight;
    if (delivery === undefined) {
      return;
    }
    if (delivery.commitUnixMs > 0) {
      const value = Math.max(0, moment.wallMs - delivery.commitUnixMs) / 1000;
      out.add({ kind: "observe", name: "ringwall_convergence_seconds", value });
    }
    delivery.acked += 1;
    this.#close(delivery, moment);
  }

  /** Pushes will not be acknowledged: they were refused, lost, or their session ended. */
  dropped(flights: readonly Flight[], moment: Moment): void {
    for (const { delivery } of flights) {
      if (delivery !== undefined) {
        this.#close(delivery, moment);
      }
    }
  }

  /** The session needs no push for its change: it is ended, or the agent has it already. */
  unassign(session: Session, moment: Moment): void {
    if (session.delivery !== undefined) {
      this.#close(session.delivery, moment);
      session.delivery = undefined;
    }
  }

  #close(delivery: Delivery, moment: Moment): void {
    delivery.open -= 1;
    if (delivery.open > 0 || delivery.parent === undefined) {
      return;
    }
    this.#out.add({
      kind: "span",
      name: "gateway.deliver",
      trace: childTrace(delivery.parent, moment.random),
      parent: delivery.parent,
      startUnixMs: delivery.sinceUnixMs,
      endUnixMs: delivery.sinceUnixMs + (moment.monotonicMs - delivery.sinceMs),
      attributes: {
        partition: delivery.partition,
        sequence: delivery.sequence,
        agents_acked: delivery.acked,
      },
    });
  }
}
