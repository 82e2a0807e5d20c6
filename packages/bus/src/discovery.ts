import type { Msg, NatsConnection, Subscription } from "@nats-io/nats-core";

/** Where NATS service discovery asks. */
const PREFIX = "$SRV";

/** What a service says of itself. `name` and endpoint names match `[-\w]+`; `version` is semantic. */
export interface ServiceIdentity {
  readonly name: string;
  readonly id: string;
  readonly version: string;
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Counts the requests of one endpoint. */
export interface EndpointCount {
  /** A request came in. */
  requested(): void;
  /** It was answered after so many milliseconds. */
  answered(tookMs: number): void;
  /** It could not be taken. */
  failed(reason: string): void;
  /** The endpoint is no longer served. */
  remove(): void;
}

interface Endpoint {
  readonly name: string;
  readonly subject: string;
  readonly queue_group: string;
  num_requests: number;
  num_errors: number;
  last_error: string;
  processing_time: number;
  average_processing_time: number;
}

/**
 * Answers NATS service discovery (`$SRV.PING|INFO|STATS`, NATS ADR-32), so that standard tools find
 * and count the endpoints. The client library's own service object can't give up an endpoint
 * without ending, and endpoints of a partition come and go with its owner.
 */
export class Discovery {
  readonly #identity: ServiceIdentity;
  readonly #started = new Date().toISOString();
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #subscriptions: Subscription[];

  constructor(nc: NatsConnection, identity: ServiceIdentity) {
    this.#identity = identity;
    const { name, id } = identity;
    this.#subscriptions = ["PING", "INFO", "STATS"].flatMap((verb) =>
      [`${PREFIX}.${verb}`, `${PREFIX}.${verb}.${name}`, `${PREFIX}.${verb}.${name}.${id}`].map(
        (subject) =>
          nc.subscribe(subject, {
            callback: (error, message) => {
              // Without the permission to be discovered a service works all the same.
              if (error === null) {
                this.#answer(verb, message);
              }
            },
          }),
      ),
    );
  }

  /** Adds an endpoint; its name is made of the subject behind `<prefix>.api.`. */
  add(subject: string, queue: string | undefined): EndpointCount {
    const endpoint: Endpoint = {
      name: subject.split(".").slice(2).join("-"),
      subject,
      queue_group: queue ?? "",
      num_requests: 0,
      num_errors: 0,
      last_error: "",
      processing_time: 0,
      average_processing_time: 0,
    };
    this.#endpoints.set(subject, endpoint);
    return {
      requested: () => {
        endpoint.num_requests += 1;
      },
      answered: (tookMs) => {
        endpoint.processing_time += Math.round(tookMs * 1_000_000);
        endpoint.average_processing_time = Math.round(
          endpoint.processing_time / Math.max(1, endpoint.num_requests),
        );
      },
      failed: (reason) => {
        endpoint.num_errors += 1;
        endpoint.last_error = reason;
      },
      remove: () => {
        if (this.#endpoints.get(subject) === endpoint) {
          this.#endpoints.delete(subject);
        }
      },
    };
  }

  /** No longer answers. */
  close(): void {
    for (const subscription of this.#subscriptions) {
      subscription.unsubscribe();
    }
  }

  #answer(verb: string, message: Msg): void {
    const { name, id, version, description, metadata } = this.#identity;
    const common = { name, id, version, metadata };
    const endpoints = [...this.#endpoints.values()];
    const kind = `io.nats.micro.v1.${verb.toLowerCase()}_response`;
    if (verb === "PING") {
      message.respond(JSON.stringify({ type: kind, ...common }));
    } else if (verb === "INFO") {
      const shown = endpoints.map((each) => ({
        name: each.name,
        subject: each.subject,
        queue_group: each.queue_group,
      }));
      message.respond(JSON.stringify({ type: kind, ...common, description, endpoints: shown }));
    } else {
      const stats = { type: kind, ...common, started: this.#started, endpoints };
      message.respond(JSON.stringify(stats));
    }
  }
}
