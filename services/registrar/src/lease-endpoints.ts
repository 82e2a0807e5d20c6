import type { Moment } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import {
  GetLeasesResponseSchema,
  LiftFreezeRequestSchema,
  LiftFreezeResponseSchema,
} from "@ringwall/wire";
import type { LeaseKeeper } from "./leases/lease-keeper.ts";
import type { Outbox } from "./outbox.ts";
import { type Delivery, readRequest, reply, unreadable } from "./reply.ts";

/** Longest reason that is kept. */
const REASON_MAX = 500;

const LISTENERS = ["lease.batch", "lease.get", "lease.lift"] as const;

/** What only the registrar that counts leases hears and answers. */
export class LeaseEndpoints {
  readonly #names: Names;
  readonly #leases: LeaseKeeper;
  readonly #out: Outbox;

  constructor(names: Names, leases: LeaseKeeper, out: Outbox) {
    this.#names = names;
    this.#leases = leases;
    this.#out = out;
  }

  open(): void {
    const { lease, api } = this.#names;
    const subjects = [lease, api("lease", "get"), api("lease", "lift")];
    for (const [index, listener] of LISTENERS.entries()) {
      this.#out.fork({ kind: "listen", listener, subject: subjects[index] ?? "" });
    }
  }

  close(): void {
    for (const listener of LISTENERS) {
      this.#out.push({ kind: "unlisten", listener });
    }
  }

  /** Takes a delivery; false if its listener is not one of these. */
  take(delivery: Delivery, moment: Moment): boolean {
    switch (delivery.listener) {
      case "lease.batch":
        if (!this.#leases.heard(delivery.payload, moment.monotonicMs)) {
          this.#out.push({ kind: "count", name: "ringwall_registrar_unreadable_batches_total" });
        }
        return true;
      case "lease.get":
        reply(
          this.#out,
          delivery.replyTo,
          GetLeasesResponseSchema,
          this.#leases.report(moment.monotonicMs, moment.wallMs),
        );
        return true;
      case "lease.lift":
        this.#lift(delivery, moment);
        return true;
      default:
        return false;
    }
  }

  #lift(delivery: Delivery, moment: Moment): void {
    const schema = LiftFreezeResponseSchema;
    const request = readRequest(LiftFreezeRequestSchema, delivery.payload);
    if (request === undefined) {
      reply(this.#out, delivery.replyTo, schema, { error: unreadable(LiftFreezeRequestSchema) });
      return;
    }
    const lifted = this.#leases.lift(request.reason.slice(0, REASON_MAX), moment.monotonicMs);
    if (lifted === undefined) {
      const message = "nothing is frozen; ask again when an alarm says so";
      reply(this.#out, delivery.replyTo, schema, { error: { code: "not_found", message } });
      return;
    }
    reply(this.#out, delivery.replyTo, schema, { lifted });
  }
}
