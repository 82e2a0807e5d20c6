export {
  allMetrics,
  describeMetric,
  type MetricDescription,
  metricsOf,
  PROCESSES,
  type ProcessName,
} from "./catalogue/index.ts";
export { LOG_LEVELS, type LogLevel } from "./log.ts";
export { METRIC_NAMES_LIMIT, type Metrics } from "./metrics.ts";
export { SAMPLERS, traceRatio } from "./sampler.ts";
export {
  startTelemetry,
  type Telemetry,
  type TelemetryEffect,
  type TelemetryOptions,
} from "./telemetry.ts";
export { TELEMETRY_VARIABLES, type TelemetryVariable } from "./variables.ts";
