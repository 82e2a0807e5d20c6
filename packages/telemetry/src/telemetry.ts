import { resourceFromAttributes } from "@opentelemetry/resources";
import { type IMetricReader, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace";
import {
  type CountEffect,
  type GaugeEffect,
  type LogEffect,
  type ObserveEffect,
  parseTrace,
  type SpanEffect,
  sampledTrace,
} from "@ringwall/actor";
import type { DestinationStream, Logger } from "pino";
import { batchOptions } from "./batch-options.ts";
import { createLogger, LOG_LEVELS, type LogLevel, traceFields } from "./log.ts";
import { Metrics } from "./metrics.ts";
import { traceRatio } from "./sampler.ts";
import { Spans } from "./spans.ts";

/** Effects that are telemetry's. */
export type TelemetryEffect = SpanEffect | LogEffect | CountEffect | GaugeEffect | ObserveEffect;

/** Options of telemetry. */
export interface TelemetryOptions {
  /** Service name, for example "registrar". */
  readonly service: string;
  /** Id of this instance. */
  readonly instance: string;
  /** Process environment: `OTEL_*` and `RINGWALL_LOG_LEVEL` (default info) are read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where log lines go; default standard output. */
  readonly logDestination?: DestinationStream;
}

/** Logs, metrics and traces of one service. */
export interface Telemetry {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** True if spans are exported. */
  readonly tracing: boolean;
  /** Share of the traces begun here that are recorded; 0 without export. */
  readonly traceRatio: number;
  /**
   * A traceparent for work that begins in this process, below `parent` where that is a valid one;
   * undefined if it is not recorded.
   */
  begin(parent?: string): string | undefined;
  /** Performs a telemetry effect; never throws for what a reducer put into it. */
  perform(effect: TelemetryEffect): void;
  /** Exports what is outstanding and ends. */
  shutdown(): Promise<void>;
}

/**
 * Sets up pino and OpenTelemetry. Metrics are always kept for the Prometheus page; OTLP export of
 * metrics and traces over HTTP is on when `OTEL_EXPORTER_OTLP_ENDPOINT` (or the signal's own variable) is set
 * and neither `OTEL_SDK_DISABLED=true` nor `OTEL_{TRACES,METRICS}_EXPORTER=none` forbids it.
 * Exporters are loaded only then. `OTEL_TRACES_SAMPLER` says how many traces are begun.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { service, instance, environment } = options;
  const resource = resourceFromAttributes({
    "service.namespace": "ringwall",
    "service.name": environment.OTEL_SERVICE_NAME ?? `ringwall-${service}`,
    "service.instance.id": instance,
    ...resourceAttributes(environment.OTEL_RESOURCE_ATTRIBUTES),
  });
  const log = createLogger(
    { service, instance },
    logLevel(environment.RINGWALL_LOG_LEVEL),
    options.logDestination,
  );
  const readers: IMetricReader[] = [];
  if (exports(environment, "METRICS")) {
    const { OTLPMetricExporter } = await import("@opentelemetry/exporter-metrics-otlp-proto");
    const exportIntervalMillis = Number(environment.OTEL_METRIC_EXPORT_INTERVAL ?? 10_000);
    readers.push(
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(),
        exportIntervalMillis,
        exportTimeoutMillis: Math.min(exportIntervalMillis, 5000),
      }),
    );
  }
  const wantedRatio = traceRatio(environment);
  let spans: Spans | undefined;
  if (exports(environment, "TRACES")) {
    const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
    const exporter = new OTLPTraceExporter();
    spans = new Spans(resource, new BatchSpanProcessor({ exporter, ...batchOptions(environment) }));
  }
  const ratio = spans === undefined ? 0 : wantedRatio;
  const metrics = new Metrics(resource, readers);
  metrics.begin(service);
  return new RunningTelemetry(log, metrics, spans, ratio);
}

class RunningTelemetry implements Telemetry {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly traceRatio: number;
  readonly #spans: Spans | undefined;

  constructor(log: Logger, metrics: Metrics, spans: Spans | undefined, ratio: number) {
    this.traceRatio = ratio;
    this.log = log;
    this.metrics = metrics;
    this.#spans = spans;
  }

  get tracing(): boolean {
    return this.#spans !== undefined;
  }

  begin(parent?: string): string | undefined {
    const known = parent === undefined ? undefined : parseTrace(parent);
    return this.tracing ? sampledTrace(known && parent, this.traceRatio, Math.random) : undefined;
  }

  perform(effect: TelemetryEffect): void {
    switch (effect.kind) {
      case "log":
        this.log[effect.level]({ ...effect.fields, ...traceFields(effect.trace) }, effect.message);
        return;
      case "span":
        this.#spans?.record(effect);
        return;
      case "count":
        this.metrics.count(effect);
        return;
      case "gauge":
        this.metrics.gauge(effect);
        return;
      case "observe":
        this.metrics.observe(effect);
        return;
      default:
        effect satisfies never;
    }
  }

  async shutdown(): Promise<void> {
    const ends = await Promise.allSettled([this.metrics.shutdown(), this.#spans?.shutdown()]);
    for (const end of ends) {
      if (end.status === "rejected") {
        this.log.warn({ reason: String(end.reason) }, "telemetry was not exported completely");
      }
    }
  }
}

function exports(
  environment: TelemetryOptions["environment"],
  signal: "METRICS" | "TRACES",
): boolean {
  const endpoint =
    environment[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] ?? environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  return (
    endpoint !== undefined &&
    endpoint !== "" &&
    environment.OTEL_SDK_DISABLED !== "true" &&
    (environment[`OTEL_${signal}_EXPORTER`] ?? "otlp") === "otlp"
  );
}

function logLevel(text: string | undefined): LogLevel {
  const level = LOG_LEVELS.find((each) => each === (text ?? "info"));
  if (level === undefined) {
    throw new RangeError(
      `RINGWALL_LOG_LEVEL is "${text}"; it must be one of ${LOG_LEVELS.join(", ")}`,
    );
  }
  return level;
}

function resourceAttributes(text: string | undefined): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const pair of (text ?? "").split(",")) {
    const [key, value] = pair.split("=", 2);
    if (key !== undefined && value !== undefined) {
      attributes[key.trim()] = decodeURIComponent(value.trim());
    }
  }
  return attributes;
}
