import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { newTrace, parseTrace } from "@ringwall/actor";
import { describe, expect, it } from "vitest";
import { startTelemetry } from "./index.ts";

async function silent(environment: Record<string, string> = {}) {
  const lines: string[] = [];
  const telemetry = await startTelemetry({
    service: "registrar",
    instance: "i1",
    environment,
    logDestination: { write: (line: string) => lines.push(line) },
  });
  return { telemetry, lines };
}

describe("startTelemetry", () => {
  it("shows counters, gauges and histograms on the Prometheus page", async () => {
    const { telemetry } = await silent();
    telemetry.perform({
      kind: "count",
      name: "ringwall_refused_rows_total",
      by: 0,
      labels: { reason: "x" },
    });
    telemetry.perform({ kind: "gauge", name: "ringwall_mailbox_depth", value: 7 });
    telemetry.perform({ kind: "observe", name: "ringwall_push_seconds", value: 0.004 });
    const page = await telemetry.metrics.page();
    expect(page).toContain('ringwall_refused_rows_total{reason="x"} 0');
    expect(page).toMatch(/ringwall_mailbox_depth(\{\})? 7/);
    expect(page).toMatch(/ringwall_push_seconds_bucket\{le="0.005"\} 1/);
    await telemetry.shutdown();
  });

  it("writes one JSON object a line with the ids of the trace", async () => {
    const { telemetry, lines } = await silent();
    const trace = newTrace(Math.random);
    telemetry.perform({ kind: "log", level: "info", message: "hello", fields: { n: 1 }, trace });
    telemetry.perform({ kind: "log", level: "debug", message: "not at info" });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      level: "info",
      service: "registrar",
      instance: "i1",
      message: "hello",
      n: 1,
      trace_id: parseTrace(trace)?.traceId,
    });
  });

  it("refuses an unknown log level with the allowed ones", async () => {
    await expect(silent({ RINGWALL_LOG_LEVEL: "loud" })).rejects.toThrow("debug, info");
  });

  it("exports spans under the ids that the reducer chose", async () => {
    const bodies: Buffer[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        if (request.url === "/v1/traces") {
          bodies.push(Buffer.concat(chunks));
        }
        response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // A TCP server's address is no string.
    const url = `http://127.0.0.1:${port}`;
    // The exporters read the process environment themselves.
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = url;
    const { telemetry } = await silent({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    expect(telemetry.tracing).toBe(true);
    const trace = newTrace(Math.random);
    telemetry.perform({ kind: "span", name: "render", trace, startUnixMs: 1000, endUnixMs: 1500 });
    await telemetry.shutdown();
    server.closeAllConnections();
    server.close();
    const traceId = Buffer.from(parseTrace(trace)?.traceId ?? "", "hex");
    expect(bodies.some((body) => body.includes(traceId) && body.includes("render"))).toBe(true);
  });
});
