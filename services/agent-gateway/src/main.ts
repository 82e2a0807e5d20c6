import { runService } from "@ringwall/bus";
import { createGateway } from "./gateway.ts";
import { HEARTBEAT_MS } from "./limits.ts";

await runService({
  service: "agent-gateway",
  description: "Delivers policies to agents",
  own: [
    {
      key: "heartbeatMs",
      variable: "RINGWALL_HEARTBEAT_MS",
      default: String(HEARTBEAT_MS),
      help: "interval of heartbeats and pulses in milliseconds",
    },
  ],
  create: createGateway,
});
