import { create, type DescMessage } from "@bufbuild/protobuf";
import type { Effect } from "@ringwall/actor";
import { type Names, partitionOf } from "@ringwall/bus";
import { usableAddresses } from "@ringwall/endpointmeta";
import {
  AdmitWorkloadRequestSchema,
  AdmitWorkloadResponseSchema,
  DeregisterWorkloadRequestSchema,
  DeregisterWorkloadResponseSchema,
  MarkEnforcedRequestSchema,
  MarkEnforcedResponseSchema,
  MarkPresenceRequestSchema,
  MarkPresenceResponseSchema,
  type ReportWorkloadRequest,
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
  type RowProblem,
  RowProblemSchema,
} from "@ringwall/wire";
import type { AddressClaims } from "./address-claims.ts";
import { gather, type Job, type Settlement } from "./job.ts";
import type { Operation } from "./operation.ts";
import type { Outbox } from "./outbox.ts";
import { type Delivery, readRequest, reply, unreadable } from "./reply.ts";

/** Verbs that only the owner of a partition answers. */
const VERBS = ["report", "deregister", "admit", "enforced", "presence"] as const;

type Verb = (typeof VERBS)[number];

/** Workloads that a contested address names. */
const CLAIMANTS_NAMED = 5;

/** Hands a job to the writer of a partition. */
export type Submit = (partition: number, job: Omit<Job, "sinceMs">) => void;

/** What the endpoints are made of. */
export interface WriteEndpointsParts {
  readonly names: Names;
  readonly out: Outbox;
  readonly claims: AddressClaims;
  readonly submit: Submit;
}

/** Requests that write workloads, each on the subject of its partition. */
export class WriteEndpoints {
  readonly #names: Names;
  readonly #out: Outbox;
  readonly #claims: AddressClaims;
  readonly #submit: Submit;

  constructor(parts: WriteEndpointsParts) {
    this.#names = parts.names;
    this.#out = parts.out;
    this.#claims = parts.claims;
    this.#submit = parts.submit;
  }

  /** Begins to listen for a partition. */
  open(partition: number): void {
    for (const verb of VERBS) {
      const listener = `${verb}.${partition}`;
      this.#out.fork({ kind: "listen", listener, subject: this.#subject(verb, partition) });
    }
  }

  /** Ends listening for a partition. */
  close(partition: number): void {
    this.#out.push(
      ...VERBS.map((verb): Effect => ({ kind: "unlisten", listener: `${verb}.${partition}` })),
    );
  }

  /** Takes a delivery; false if its listener is not one of these. */
  take(delivery: Delivery): boolean {
    const [verb, number] = delivery.listener.split(".");
    const partition = Number(number);
    switch (verb as Verb) {
      case "report":
        this.#report(partition, delivery);
        return true;
      case "deregister":
        this.#deregister(partition, delivery);
        return true;
      case "admit":
        this.#admit(partition, delivery);
        return true;
      case "enforced":
        this.#enforced(partition, delivery);
        return true;
      case "presence":
        this.#presence(partition, delivery);
        return true;
      default:
        return false;
    }
  }

  #subject(verb: Verb, partition: number): string {
    return verb === "enforced" || verb === "presence"
      ? `${this.#names.internal("workload", verb)}.${partition}`
      : this.#names.api("workload", verb, partition);
  }

  #report(partition: number, delivery: Delivery): void {
    const schema = ReportWorkloadResponseSchema;
    const request = readRequest(ReportWorkloadRequestSchema, delivery.payload);
    if (request === undefined) {
      this.#fail(delivery, schema, unreadable(ReportWorkloadRequestSchema));
      return;
    }
    this.#one(partition, delivery, request.id, { kind: "report", request }, (settlement) => {
      const { problems } = settlement;
      for (const { code } of problems.filter((problem) => problem.refused)) {
        const labels = { code };
        this.#out.push({ kind: "count", name: "ringwall_rejected_rows_total", labels });
      }
      reply(this.#out, delivery.replyTo, schema, {
        ...answer(settlement),
        changed: settlement.kind === "done" && settlement.changed,
        problems:
          settlement.kind === "done" ? [...problems, ...this.#contested(request)] : [...problems],
      });
    });
  }

  /** Addresses of a report that others claim as well; both keep them. */
  #contested({ id, addresses }: ReportWorkloadRequest): RowProblem[] {
    return usableAddresses(addresses).flatMap((value) => {
      const others = this.#claims.others(value, id, CLAIMANTS_NAMED);
      if (others.length === 0) {
        return [];
      }
      const named = others.sort().join(", ");
      const message = `address ${value} is claimed by ${named} as well; rules for either apply to both`;
      return [create(RowProblemSchema, { code: "address_contested", value, message })];
    });
  }

  #deregister(partition: number, delivery: Delivery): void {
    const schema = DeregisterWorkloadResponseSchema;
    const request = readRequest(DeregisterWorkloadRequestSchema, delivery.payload);
    if (request === undefined) {
      this.#fail(delivery, schema, unreadable(DeregisterWorkloadRequestSchema));
      return;
    }
    this.#one(partition, delivery, request.id, { kind: "deregister" }, (settlement) => {
      reply(this.#out, delivery.replyTo, schema, answer(settlement));
    });
  }

  #admit(partition: number, delivery: Delivery): void {
    const schema = AdmitWorkloadResponseSchema;
    const request = readRequest(AdmitWorkloadRequestSchema, delivery.payload);
    if (request === undefined) {
      this.#fail(delivery, schema, unreadable(AdmitWorkloadRequestSchema));
      return;
    }
    this.#one(partition, delivery, request.id, { kind: "admit", request }, (settlement) => {
      reply(this.#out, delivery.replyTo, schema, answer(settlement));
    });
  }

  #enforced(partition: number, delivery: Delivery): void {
    const schema = MarkEnforcedResponseSchema;
    const request = readRequest(MarkEnforcedRequestSchema, delivery.payload);
    if (request === undefined) {
      this.#fail(delivery, schema, unreadable(MarkEnforcedRequestSchema));
      return;
    }
    const operation = { kind: "enforced", enforced: request.enforced } as const;
    const operations = request.workloads.map((id) => [id, operation] as const);
    this.#many(partition, delivery, operations, (settlement) => {
      reply(this.#out, delivery.replyTo, schema, answer(settlement));
    });
  }

  #presence(partition: number, delivery: Delivery): void {
    const schema = MarkPresenceResponseSchema;
    const request = readRequest(MarkPresenceRequestSchema, delivery.payload);
    if (request === undefined) {
      this.#fail(delivery, schema, unreadable(MarkPresenceRequestSchema));
      return;
    }
    const operations = request.marks.map(
      (mark) => [mark.workload, { kind: "presence", mark }] as const,
    );
    this.#many(partition, delivery, operations, (settlement) => {
      reply(this.#out, delivery.replyTo, schema, answer(settlement));
    });
  }

  #one(
    partition: number,
    { trace }: Delivery,
    id: string,
    operation: Operation,
    settle: (settlement: Settlement) => void,
  ): void {
    if (partitionOf(id) !== partition) {
      settle(misplaced(id, partition));
      return;
    }
    this.#submit(partition, { id, operation, settle, ...(trace === undefined ? {} : { trace }) });
  }

  #many(
    partition: number,
    delivery: Delivery,
    operations: readonly (readonly [string, Operation])[],
    settle: (settlement: Settlement) => void,
  ): void {
    if (operations.length === 0) {
      settle({ kind: "done", revision: 0, changed: false, problems: [] });
      return;
    }
    const each = gather(operations.length, settle);
    for (const [id, operation] of operations) {
      this.#one(partition, delivery, id, operation, each);
    }
  }

  #fail(delivery: Delivery, schema: DescMessage, error: { code: string; message: string }): void {
    reply(this.#out, delivery.replyTo, schema, { error });
  }
}

function answer(settlement: Settlement) {
  return settlement.kind === "done"
    ? { revision: BigInt(settlement.revision) }
    : { error: { code: settlement.code, message: settlement.message } };
}

function misplaced(id: string, partition: number): Settlement {
  const message = `workload ${JSON.stringify(id.slice(0, 80))} is in partition ${partitionOf(id)}, the request came for ${partition}`;
  return { kind: "refused", code: "invalid", message, problems: [] };
}
