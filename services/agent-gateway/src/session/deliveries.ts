import { type Moment, SPAN_LINKS_LIMIT } from "@ringwall/actor";
import type { Outbox } from "../outbox.ts";
import { type Delivery, type Flight, NO_TRACES, type Session } from "./session.ts";

/** Follows changes from the log to the acknowledgements of the agents that they concern. */
export class Deliveries {
  readonly #out: Outbox;

  constructor(out: Outbox) {
    this.#out = out;
  }

  /** The session has to get this change; an earlier one that was not sent yet is coalesced into it. */
  assign(session: Session, delivery: Delivery, moment: Moment): void {
    if (session.delivery !== undefined) {
      const { trace } = session.delivery;
      this.#out.count("ringwall_coalesced_pushes_total");
      if (trace !== undefined && session.coalesced.length < SPAN_LINKS_LIMIT) {
        session.coalesced = [...session.coalesced, trace];
      }
      this.#close(session.delivery, moment);
    }
    session.delivery = delivery;
    delivery.open += 1;
  }

  /** A push was acknowledged. */
  acked(session: Session, flight: Flight, moment: Moment): void {
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
    this.#span(session, flight, moment);
    this.#close(delivery, moment);
  }

  /** Pushes will not be acknowledged: they were refused, lost, or their session ended. */
  dropped(session: Session, flights: readonly Flight[], moment: Moment): void {
    for (const flight of flights) {
      if (flight.delivery !== undefined) {
        this.#span(session, flight, moment, "not acknowledged");
        this.#close(flight.delivery, moment);
      }
    }
  }

  /** The session needs no push for its change: it is ended, or the agent has it already. */
  unassign(session: Session, moment: Moment): void {
    if (session.delivery !== undefined) {
      this.#close(session.delivery, moment);
      session.delivery = undefined;
      session.coalesced = NO_TRACES;
    }
  }

  /** One agent's push, from the record to the acknowledgement. */
  #span(session: Session, flight: Flight, moment: Moment, failed?: string): void {
    const { delivery, trace, links } = flight;
    if (delivery?.trace === undefined || trace === undefined) {
      return;
    }
    this.#out.add({
      kind: "span",
      name: "push",
      trace,
      parent: delivery.trace,
      links,
      startUnixMs: delivery.sinceUnixMs,
      endUnixMs: endOf(delivery, moment),
      attributes: {
        "ringwall.workload": session.workload,
        "ringwall.version": flight.version,
        "ringwall.partition": delivery.partition,
        "ringwall.commit": delivery.commit,
        "ringwall.kind": flight.kind,
      },
      ...(failed === undefined ? {} : { failed }),
    });
  }

  #close(delivery: Delivery, moment: Moment): void {
    delivery.open -= 1;
    if (delivery.open > 0 || delivery.parent === undefined || delivery.trace === undefined) {
      return;
    }
    this.#out.add({
      kind: "span",
      name: "deliver",
      trace: delivery.trace,
      parent: delivery.parent,
      startUnixMs: delivery.sinceUnixMs,
      endUnixMs: endOf(delivery, moment),
      attributes: {
        "ringwall.partition": delivery.partition,
        "ringwall.commit": delivery.commit,
        "ringwall.versions_sequence": delivery.sequence,
        "ringwall.agents_acked": delivery.acked,
      },
    });
  }
}

function endOf({ seenUnixMs, sinceMs }: Delivery, { monotonicMs }: Moment): number {
  return seenUnixMs + (monotonicMs - sinceMs);
}
