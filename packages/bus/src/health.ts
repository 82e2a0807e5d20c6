import { createServer, type Server } from "node:http";
import { BusError } from "./errors.ts";

/** What the health endpoints show. */
export interface HealthView {
  /** Why the service does not serve; empty if it does. */
  problems(): readonly string[];
  /** Things that work but should be changed. */
  warnings(): readonly string[];
  /** Prometheus text page. */
  metricsPage(): Promise<string>;
}

/** A running health server. */
export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves `/livez` (200 while the process takes requests), `/readyz` (200, or 503 with one problem a
 * line) and `/metrics`. Throws BusError `port-in-use`.
 */
export async function startHealth(
  host: string,
  port: number,
  view: HealthView,
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const send = (status: number, body: string) => {
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(body);
    };
    const path = (request.url ?? "/").split("?")[0];
    if (request.method !== "GET" && request.method !== "HEAD") {
      send(405, "only GET is allowed\n");
    } else if (path === "/livez") {
      send(200, "ok\n");
    } else if (path === "/readyz") {
      const problems = view.problems();
      const warnings = view.warnings().map((warning) => `warning: ${warning}`);
      const lines = [...(problems.length === 0 ? ["ok"] : problems), ...warnings];
      send(problems.length === 0 ? 200 : 503, `${lines.join("\n")}\n`);
    } else if (path === "/metrics") {
      view.metricsPage().then(
        (page) => send(200, page),
        (error: unknown) => send(500, `${String(error)}\n`),
      );
    } else {
      send(404, "there is /livez, /readyz and /metrics\n");
    }
  });
  await listen(server, host, port);
  const address = server.address();
  return {
    port: address === null || typeof address === "string" ? port : address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        error.code === "EADDRINUSE"
          ? new BusError("port-in-use", `${host}:${port} is in use; choose another --http-port`)
          : error,
      );
    });
    server.listen(port, host, resolve);
  });
}
