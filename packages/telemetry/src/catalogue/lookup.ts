import { AGENT_METRICS } from "./agent-metrics.ts";
import { GATEWAY_METRICS } from "./gateway-metrics.ts";
import { KEEPER_METRICS } from "./keeper-metrics.ts";
import { type MetricDescription, PROCESSES, type ProcessName } from "./metric.ts";
import { REGISTRAR_METRICS } from "./registrar-metrics.ts";
import { RENDERER_METRICS } from "./renderer-metrics.ts";
import { HELD_METRIC, SERVICE_METRICS, SLOT_METRICS } from "./service-metrics.ts";

/** Most series of a counter that are shown at 0 before anything is counted. */
export const ZEROED_SERIES_LIMIT = 32;

const BY_PROCESS: Readonly<Record<ProcessName, readonly MetricDescription[]>> = {
  registrar: [...SERVICE_METRICS, ...SLOT_METRICS, ...REGISTRAR_METRICS],
  renderer: [...SERVICE_METRICS, ...SLOT_METRICS, HELD_METRIC, ...RENDERER_METRICS],
  "version-keeper": [...SERVICE_METRICS, ...SLOT_METRICS, HELD_METRIC, ...KEEPER_METRICS],
  "agent-gateway": [...SERVICE_METRICS, HELD_METRIC, ...GATEWAY_METRICS],
  agent: AGENT_METRICS,
};

const BY_NAME = new Map(
  PROCESSES.flatMap((process) => BY_PROCESS[process].map((metric) => [metric.name, metric])),
);

/** The metrics of a process; none for a name that is no process of the catalogue. */
export function metricsOf(process: string): readonly MetricDescription[] {
  const known = PROCESSES.find((each) => each === process);
  return known === undefined ? [] : BY_PROCESS[known];
}

/** Every metric once, in byte order of the names. */
export function allMetrics(): readonly MetricDescription[] {
  return [...BY_NAME.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What a metric means; undefined if the catalogue does not know it. */
export function describeMetric(name: string): MetricDescription | undefined {
  return BY_NAME.get(name);
}

/**
 * The label sets under which a counter is shown before anything is counted, so that its first
 * increase is one: every combination, or none where those are more than `ZEROED_SERIES_LIMIT`.
 */
export function zeroSeries({ kind, labels }: MetricDescription): readonly Record<string, string>[] {
  if (kind !== "counter") {
    return [];
  }
  let series: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    series = series.flatMap((each) => values.map((value) => ({ ...each, [label]: value })));
  }
  return series.length <= ZEROED_SERIES_LIMIT ? series : [];
}
