/** What an agent needs of the bus: core messages only, it has no access to streams. */
export interface AgentTransport {
  /** Sends at most once; a transport that is away may drop it. */
  publish(subject: string, payload: Uint8Array): void;
  /** Hands each message to `take`; the result ends the subscription. */
  subscribe(subject: string, take: (payload: Uint8Array) => void): () => void;
  /** Calls back each time the bus is reachable again after it was away. */
  onReconnect(call: () => void): void;
}

/** The part of a NATS core connection that the transport uses. */
export interface CoreConnection {
  publish(subject: string, payload: Uint8Array): void;
  subscribe(
    subject: string,
    options: { callback: (error: Error | null, message: { readonly data: Uint8Array }) => void },
  ): { unsubscribe(): void };
  status(): AsyncIterable<{ readonly type: string }>;
  isClosed(): boolean;
}

/** A transport over a NATS connection, shared by any number of agents. */
export function natsTransport(connection: CoreConnection): AgentTransport {
  const onReconnect: (() => void)[] = [];
  void follow(connection, () => {
    for (const call of onReconnect) {
      call();
    }
  });
  return {
    publish: (subject, payload) => {
      if (!connection.isClosed()) {
        connection.publish(subject, payload);
      }
    },
    subscribe: (subject, take) => {
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (error === null) {
            take(message.data);
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

async function follow(connection: CoreConnection, onReconnect: () => void): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === "reconnect") {
      onReconnect();
    }
  }
}
