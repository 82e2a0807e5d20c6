import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import type { Moment } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import {
  GetServiceRequestSchema,
  GetServiceResponseSchema,
  ListClaimsRequestSchema,
  ListClaimsResponseSchema,
  ListServicesRequestSchema,
  ListServicesResponseSchema,
  ListWorkloadsRequestSchema,
  ListWorkloadsResponseSchema,
} from "@ringwall/wire";
import type { Outbox } from "../outbox.ts";
import type { Registry } from "../registry.ts";
import { type Delivery, readRequest, reply, unreadable } from "../reply.ts";
import { listWorkloads } from "./list-workloads.ts";
import { pageLimit } from "./page.ts";
import { RevisionWaiters } from "./revision-waiters.ts";
import { serviceSummary, serviceView } from "./service-view.ts";
import { filterFault } from "./workload-filter.ts";

/** Queue group of everything that any instance answers. */
export const READ_QUEUE = "registrar";

/** Timer that ends reads which wait for a revision. */
export const WAIT_TIMER = "reads.wait";

const WAIT_CHECK_MS = 500;

/** Contested addresses of one answer: with their workloads they have to fit a message. */
const CLAIMS_MAX = 50;

/** Workloads that are listed for one contested address. */
const CLAIMANTS_LISTED = 100;

/** Operations that any instance answers from its fold: noun and verb by listener. */
const OPERATIONS: Readonly<Record<string, readonly [string, string]>> = {
  "read.workloads": ["workload", "list"],
  "read.claims": ["workload", "claims"],
  "read.service": ["service", "get"],
  "read.services": ["service", "list"],
};

/** Reads, answered from this instance's fold. */
export class ReadEndpoints {
  readonly #names: Names;
  readonly #registry: Registry;
  readonly #out: Outbox;
  readonly #waiters = new RevisionWaiters();
  #caughtUp = false;

  constructor(names: Names, registry: Registry, out: Outbox) {
    this.#names = names;
    this.#registry = registry;
    this.#out = out;
  }

  /** The fold has caught up: begins to listen. */
  open(): void {
    if (this.#caughtUp) {
      return;
    }
    this.#caughtUp = true;
    for (const [listener, [noun, verb]] of Object.entries(OPERATIONS)) {
      const subject = this.#names.api(noun, verb);
      this.#out.fork({ kind: "listen", listener, subject, queue: READ_QUEUE });
    }
  }

  /** The fold is read anew: ends listening, others answer. */
  close(): void {
    this.#caughtUp = false;
    for (const listener of Object.keys(OPERATIONS)) {
      this.#out.push({ kind: "unlisten", listener });
    }
  }

  /** The fold advanced. */
  advanced(): void {
    this.#waiters.reached(this.#registry.revision);
  }

  /** The timer of waiting reads ran out. */
  timer(nowMs: number): void {
    this.#waiters.expire(nowMs);
    if (this.#waiters.size > 0) {
      this.#out.push({ kind: "timer", id: WAIT_TIMER, delayMs: WAIT_CHECK_MS });
    }
  }

  /** Takes a delivery; false if its listener is not one of these. */
  take(delivery: Delivery, moment: Moment): boolean {
    switch (delivery.listener) {
      case "read.workloads":
        this.#workloads(delivery, moment);
        return true;
      case "read.claims":
        this.#claims(delivery);
        return true;
      case "read.service":
        this.#service(delivery, moment);
        return true;
      case "read.services":
        this.#services(delivery, moment);
        return true;
      default:
        return false;
    }
  }

  #workloads(delivery: Delivery, moment: Moment): void {
    const schema = ListWorkloadsResponseSchema;
    const request = readRequest(ListWorkloadsRequestSchema, delivery.payload);
    if (request === undefined) {
      reply(this.#out, delivery.replyTo, schema, { error: unreadable(ListWorkloadsRequestSchema) });
      return;
    }
    this.#at(Number(request.atLeastRevision), moment, delivery, schema, () => {
      try {
        return listWorkloads(this.#registry, request);
      } catch (error) {
        return { error: { code: "invalid", message: filterFault(error) } };
      }
    });
  }

  #claims(delivery: Delivery): void {
    const schema = ListClaimsResponseSchema;
    const request = readRequest(ListClaimsRequestSchema, delivery.payload);
    if (request === undefined) {
      reply(this.#out, delivery.replyTo, schema, { error: unreadable(ListClaimsRequestSchema) });
      return;
    }
    const { claims } = this.#registry.indexes;
    const start = claims.firstContestedAfter(request.after);
    const page = claims.contested.slice(
      start,
      start + Math.min(pageLimit(request.limit), CLAIMS_MAX),
    );
    reply(this.#out, delivery.replyTo, schema, {
      revision: BigInt(this.#registry.revision),
      claims: page.map((address) => ({
        address,
        workloads: claims.claimants(address, CLAIMANTS_LISTED),
      })),
      more: start + page.length < claims.contested.length,
    });
  }

  #service(delivery: Delivery, moment: Moment): void {
    const schema = GetServiceResponseSchema;
    const request = readRequest(GetServiceRequestSchema, delivery.payload);
    if (request === undefined) {
      reply(this.#out, delivery.replyTo, schema, { error: unreadable(GetServiceRequestSchema) });
      return;
    }
    this.#at(Number(request.atLeastRevision), moment, delivery, schema, () => {
      const revision = BigInt(this.#registry.revision);
      const service = serviceView(this.#registry, request.service);
      if (service === undefined) {
        const message = `nobody serves or calls ${JSON.stringify(request.service.slice(0, 200))}`;
        return { revision, error: { code: "not_found", message } };
      }
      return { revision, service };
    });
  }

  #services(delivery: Delivery, moment: Moment): void {
    const schema = ListServicesResponseSchema;
    const request = readRequest(ListServicesRequestSchema, delivery.payload);
    if (request === undefined) {
      reply(this.#out, delivery.replyTo, schema, { error: unreadable(ListServicesRequestSchema) });
      return;
    }
    this.#at(Number(request.atLeastRevision), moment, delivery, schema, () => {
      const keys = this.#registry.indexes.services.all();
      const start = this.#registry.indexes.services.firstAfter(request.after);
      const page = keys.slice(start, start + pageLimit(request.limit));
      return {
        revision: BigInt(this.#registry.revision),
        services: page.map((service) => serviceSummary(this.#registry, service)),
        more: start + page.length < keys.length,
      };
    });
  }

  /** Answers once the fold has reached a revision, or says that it has not in time. */
  #at<Schema extends DescMessage>(
    revision: number,
    moment: Moment,
    delivery: Delivery,
    schema: Schema,
    make: () => MessageInitShape<Schema>,
  ): void {
    const run = () => reply(this.#out, delivery.replyTo, schema, make());
    if (revision <= this.#registry.revision) {
      run();
      return;
    }
    if (this.#waiters.size === 0) {
      this.#out.push({ kind: "timer", id: WAIT_TIMER, delayMs: WAIT_CHECK_MS });
    }
    this.#waiters.add(revision, moment.monotonicMs, run, () => {
      const message = `revision ${revision} was not reached in time, the registry is at ${this.#registry.revision}`;
      // Every answer has the field `error`, which the type of a generic schema can't say.
      const init = {
        error: { code: "unavailable", message },
      } as unknown as MessageInitShape<Schema>;
      reply(this.#out, delivery.replyTo, schema, init);
    });
  }
}
