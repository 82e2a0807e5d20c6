import { resourceFromAttributes } from "@opentelemetry/resources";
import { type IMetricReader, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace";
import type {
  CountEffect,
  GaugeEffect,
  LogEffect,
  ObserveEffect,
  SpanEffect,
} from "@ringwall/actor";
import type { DestinationStream, Logger } from "pino";
import { createLogger, LOG_LEVELS, type LogLevel, traceFields } from "./log.ts";
import { Metrics } from "./metrics.ts";
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
  /** Performs a telemetry effect; never throws for what a reducer put into it. */
  perform(effect: TelemetryEffect): void;
  /** Exports what is outstanding and ends. */
  shutdown(): Promise<void>;
}

/**
 * Sets up pino and OpenTelemetry. Metrics are always kept for the Prometheus page; OTLP export of
 * metrics and traces is on when `OTEL_EXPORTER_OTLP_ENDPOINT` (or the signal's own variable) is set
 * and neither `OTEL_SDK_DISABLED=true` nor `OTEL_{TRACES,METRICS}_EXPORTER=none` forbids it.
 * Exporters are loaded only then.
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
  let spans: Spans | undefined;
  if (exports(environment, "TRACES")) {
    const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
    const exporter = new OTLPTraceExporter();
    spans = new Spans(resource, new BatchSpanProcessor({ exporter }));
  }
  return new RunningTelemetry(log, new Metrics(resource, readers), spans);
}

class RunningTelemetry implements Telemetry {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly #spans: Spans | undefined;

  constructor(log: Logger, metrics: Metrics, spans: Spans | undefined) {
    this.log = log;
    this.metrics = metrics;
    this.#spans = spans;
  }

  get tracing(): boolean {
    return this.#spans !== undefined;
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
