import { createServer, type Server } from "node:http";
import type { SessionStatus } from "@ringwall/agent";

/** What the agent's endpoints show. */
export interface AgentView {
  statuses(): readonly SessionStatus[];
  metricsPage(): Promise<string>;
}

/**
 * Serves `/livez`, `/readyz` (503 with the workloads that have no session), `/status` (JSON) and
 * `/metrics`. Rejects when the port is taken.
 */
export async function startAgentHealth(
  host: string,
  port: number,
  view: AgentView,
): Promise<Server> {
  const server = createServer((request, response) => {
    const send = (status: number, body: string, type = "text/plain; charset=utf-8") => {
      response.writeHead(status, { "content-type": type }).end(body);
    };
    switch ((request.url ?? "/").split("?")[0]) {
      case "/livez":
        send(200, "ok\n");
        break;
      case "/readyz": {
        const closed = view.statuses().filter(({ phase }) => phase !== "open");
        const lines = closed.map(({ workload }) => `${workload} has no session`);
        send(closed.length === 0 ? 200 : 503, `${lines.join("\n") || "ok"}\n`);
        break;
      }
      case "/status":
        send(200, `${JSON.stringify(view.statuses(), numbersAsText)}\n`, "application/json");
        break;
      case "/metrics":
        view.metricsPage().then(
          (page) => send(200, page),
          (error: unknown) => send(500, `${String(error)}\n`),
        );
        break;
      default:
        send(404, "there is /livez, /readyz, /status and /metrics\n");
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve());
  });
  return server;
}

function numbersAsText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
