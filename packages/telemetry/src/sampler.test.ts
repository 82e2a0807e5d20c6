import { parseTrace } from "@ringwall/actor";
import { describe, expect, it } from "vitest";
import { batchOptions } from "./batch-options.ts";
import { startTelemetry, traceRatio } from "./index.ts";

describe("traceRatio", () => {
  it("records every trace unless told otherwise", () => {
    expect(traceRatio({})).toBe(1);
    expect(traceRatio({ OTEL_TRACES_SAMPLER: "always_off" })).toBe(0);
  });

  it("takes the share of the ratio samplers", () => {
    const environment = { OTEL_TRACES_SAMPLER: "parentbased_traceidratio" };
    expect(traceRatio({ ...environment, OTEL_TRACES_SAMPLER_ARG: "0.01" })).toBe(0.01);
    expect(traceRatio(environment)).toBe(1);
  });

  it("refuses an unknown sampler and a ratio above 1, with what is allowed", () => {
    expect(() => traceRatio({ OTEL_TRACES_SAMPLER: "jaeger_remote" })).toThrow("always_on");
    const environment = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" };
    expect(() => traceRatio(environment)).toThrow("from 0 to 1");
  });
});

describe("batchOptions", () => {
  it("reads the standard variables and refuses what is no number", () => {
    expect(batchOptions({ OTEL_BSP_SCHEDULE_DELAY: "100" }).scheduledDelayMillis).toBe(100);
    expect(() => batchOptions({ OTEL_BSP_MAX_QUEUE_SIZE: "many" })).toThrow("OTEL_BSP_MAX_QUEUE");
  });
});

describe("work that begins in a process", () => {
  it("has no trace where spans go nowhere", async () => {
    const telemetry = await startTelemetry({ service: "cli", instance: "i", environment: {} });
    expect(telemetry.begin()).toBeUndefined();
    await telemetry.shutdown();
  });

  it("goes on with the trace that it is given", async () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
      OTEL_METRICS_EXPORTER: "none",
    };
    const telemetry = await startTelemetry({ service: "cli", instance: "i", environment });
    const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    expect(parseTrace(telemetry.begin(parent) ?? "")?.traceId).toBe(parseTrace(parent)?.traceId);
    expect(telemetry.begin("nonsense")).toBeDefined();
    await telemetry.shutdown();
  });
});
