/** What an agent needs of the bus: core messages only, it has no access to streams. */
export interface AgentTransport {
  /** Sends at most once, with a traceparent if given; a transport that is away may drop it. */
  publish(subject: string, payload: Uint8Array, trace?: string): void;
  /** Hands each message and its traceparent to `take`; the result ends the subscription. */
  subscribe(subject: string, take: (payload: Uint8Array, trace?: string) => void): () => void;
  /** Calls back each time the bus is reachable again after it was away. */
  onReconnect(call: () => void): void;
}

/** The part of a NATS core connection that the transport uses. */
export interface CoreConnection<Headers extends CoreHeaders> {
  publish(subject: string, payload: Uint8Array, options?: { headers?: Headers }): void;
  subscribe(
    subject: string,
    options: { callback: (error: Error | null, message: CoreMessage) => void },
  ): { unsubscribe(): void };
  status(): AsyncIterable<{ readonly type: string }>;
  isClosed(): boolean;
}

/** The part of a message's headers that the transport reads. */
export interface CoreHeaders {
  get(name: string): string;
}

/** The part of a core message that the transport reads. */
export interface CoreMessage {
  readonly data: Uint8Array;
  readonly headers?: CoreHeaders | undefined;
}

const TRACE_HEADER = "traceparent";

/**
 * A transport over a NATS connection, shared by any number of agents. `traced` makes the headers of
 * a message that belongs to a trace; without it messages go without.
 */
export function natsTransport<Headers extends CoreHeaders>(
  connection: CoreConnection<Headers>,
  traced?: (trace: string) => Headers | undefined,
): AgentTransport {
  const onReconnect: (() => void)[] = [];
  void follow(connection, () => {
    for (const call of onReconnect) {
      call();
    }
  });
  return {
    publish: (subject, payload, trace) => {
      if (!connection.isClosed()) {
        const headers = trace === undefined ? undefined : traced?.(trace);
        connection.publish(subject, payload, headers === undefined ? {} : { headers });
      }
    },
    subscribe: (subject, take) => {
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (error === null) {
            take(message.data, message.headers?.get(TRACE_HEADER) || undefined);
          }
        },
      });
      return () => subscription.unsubscribe();
    },
    onReconnect: (call) => {
      onReconnect.push(call);
    },
  };
}

async function follow(
  connection: Pick<CoreConnection<CoreHeaders>, "status">,
  onReconnect: () => void,
): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === "reconnect") {
      onReconnect();
    }
  }
}
