import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Stored {
  readonly kind: string;
  readonly metadata: { readonly namespace: string; readonly name: string };
}

interface LoggedEvent {
  readonly version: number;
  readonly kind: string;
  readonly type: string;
  readonly object: object;
}

/**
 * The part of a Kubernetes API server that lists and watches pods and services, over HTTP: versions,
 * pages, closed and expired watches, failures.
 */
export class ClusterServer {
  readonly #objects = new Map<string, Stored>();
  readonly #events: LoggedEvent[] = [];
  readonly #watchers = new Map<ServerResponse, string>();
  readonly #server: Server;
  #version = 1_000;
  #oldest = 0;
  /** Requests that are answered 500 from now on. */
  failures = 0;
  /** Lists that were asked for, their pages counted once. */
  lists = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? "/", "http://localhost");
      const kind = url.pathname.endsWith("/pods") ? "Pod" : "Service";
      if (this.failures > 0) {
        this.failures -= 1;
        send(response, 500, { kind: "Status", code: 500, message: "on purpose" });
      } else if (url.searchParams.get("watch") === "true") {
        this.#watch(kind, Number(url.searchParams.get("resourceVersion")), response);
      } else {
        this.#list(kind, url.searchParams, response);
      }
    });
  }

  /** Begins to serve; returns its URL. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.closeWatches();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Stores an object and tells the watches. */
  put(object: object): void {
    const stored = this.#versioned(object);
    const key = keyOf(stored);
    const type = this.#objects.has(key) ? "MODIFIED" : "ADDED";
    this.#objects.set(key, stored);
    this.#tell(type, stored);
  }

  /** Removes an object and tells the watches. */
  delete(object: object): void {
    const stored = this.#versioned(object);
    this.#objects.delete(keyOf(stored));
    this.#tell("DELETED", stored);
  }

  /** Removes every object without a word, as a restored etcd does. */
  forgetAll(): void {
    this.#objects.clear();
  }

  /** Closes the watches as a server does from time to time. */
  closeWatches(): void {
    for (const response of this.#watchers.keys()) {
      response.end();
    }
    this.#watchers.clear();
  }

  /** Drops the history: who goes on from an earlier version is told that it has expired. */
  compact(): void {
    this.#oldest = this.#version;
  }

  #versioned(object: object): Stored {
    this.#version += 1;
    const stored = structuredClone(object) as Stored & { metadata: { resourceVersion: string } };
    stored.metadata.resourceVersion = String(this.#version);
    return stored;
  }

  #tell(type: string, object: Stored): void {
    const event = { version: this.#version, kind: object.kind, type, object };
    this.#events.push(event);
    for (const [response, kind] of this.#watchers) {
      if (kind === object.kind) {
        response.write(`${JSON.stringify({ type, object })}\n`);
      }
    }
  }

  #watch(kind: string, from: number, response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" });
    if (from < this.#oldest) {
      const object = { kind: "Status", code: 410, reason: "Expired" };
      response.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
      return;
    }
    response.flushHeaders();
    for (const event of this.#events) {
      if (event.version > from && event.kind === kind) {
        response.write(`${JSON.stringify({ type: event.type, object: event.object })}\n`);
      }
    }
    this.#watchers.set(response, kind);
    response.on("close", () => this.#watchers.delete(response));
  }

  #list(kind: string, query: URLSearchParams, response: ServerResponse): void {
    const all = [...this.#objects.values()].filter((each) => each.kind === kind);
    const start = Number(query.get("continue") ?? 0);
    const end = start + Number(query.get("limit") ?? all.length);
    this.lists += start === 0 ? 1 : 0;
    const items = all.slice(start, end).map(({ kind: _, ...item }) => item);
    const metadata = {
      resourceVersion: String(this.#version),
      ...(end < all.length ? { continue: String(end) } : {}),
    };
    send(response, 200, { kind: `${kind}List`, apiVersion: "v1", metadata, items });
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function keyOf({ kind, metadata }: Stored): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}
