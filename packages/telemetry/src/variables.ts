/** An environment variable that telemetry reads. */
export interface TelemetryVariable {
  readonly name: string;
  /** What holds when it is not set. */
  readonly fallback: string;
  /** One line for people. */
  readonly help: string;
}

/** Every variable of logs, metrics and traces; those of OTLP exporters are OpenTelemetry's own. */
export const TELEMETRY_VARIABLES: readonly TelemetryVariable[] = [
  variable(
    "RINGWALL_LOG_LEVEL",
    "info",
    "least level of a log line: debug, info, warn, error, silent",
  ),
  variable(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "",
    "where traces and metrics go over HTTP with protobuf",
  ),
  variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "", "where traces go instead"),
  variable("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "", "where metrics go instead"),
  variable("OTEL_EXPORTER_OTLP_HEADERS", "", "headers of every export, for example a token"),
  variable("OTEL_SDK_DISABLED", "false", "true: nothing is exported; /metrics stays"),
  variable("OTEL_TRACES_EXPORTER", "otlp", "none: no traces"),
  variable("OTEL_METRICS_EXPORTER", "otlp", "none: no metrics over OTLP"),
  variable("OTEL_TRACES_SAMPLER", "parentbased_always_on", "which traces begun here are recorded"),
  variable("OTEL_TRACES_SAMPLER_ARG", "1", "share of them for the ratio samplers"),
  variable("OTEL_METRIC_EXPORT_INTERVAL", "10000", "milliseconds between exports of metrics"),
  variable("OTEL_BSP_SCHEDULE_DELAY", "5000", "milliseconds that finished spans are gathered"),
  variable("OTEL_BSP_MAX_QUEUE_SIZE", "32768", "spans that may wait; more are dropped"),
  variable("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "512", "spans of one export"),
  variable("OTEL_BSP_EXPORT_TIMEOUT", "30000", "milliseconds after which an export is given up"),
  variable("OTEL_SERVICE_NAME", "ringwall-<service>", "service.name of what is exported"),
  variable("OTEL_RESOURCE_ATTRIBUTES", "", "further attributes, key=value separated by commas"),
];

function variable(name: string, fallback: string, help: string): TelemetryVariable {
  return { name, fallback, help };
}
