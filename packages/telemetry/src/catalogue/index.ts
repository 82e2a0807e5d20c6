export {
  allMetrics,
  describeMetric,
  metricsOf,
  ZEROED_SERIES_LIMIT,
  zeroSeries,
} from "./lookup.ts";
export { type MetricDescription, PROCESSES, type ProcessName } from "./metric.ts";
