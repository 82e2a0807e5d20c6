/** Processes that have metrics. */
export const PROCESSES = [
  "registrar",
  "renderer",
  "version-keeper",
  "agent-gateway",
  "agent",
] as const;

/** A process that has metrics. */
export type ProcessName = (typeof PROCESSES)[number];

/** What one metric means. */
export interface MetricDescription {
  /** Name on the Prometheus page; it ends with the unit, and `_total` for counters. */
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  /** One line for people. */
  readonly help: string;
  /** Every label with every value that it can have: nothing else is a label's value. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

type Labels = MetricDescription["labels"];

/** Describes a counter. */
export function counter(name: string, help: string, labels: Labels = {}): MetricDescription {
  return { name, kind: "counter", help, labels };
}

/** Describes a gauge. */
export function gauge(name: string, help: string, labels: Labels = {}): MetricDescription {
  return { name, kind: "gauge", help, labels };
}

/** Describes a histogram. */
export function histogram(name: string, help: string, labels: Labels = {}): MetricDescription {
  return { name, kind: "histogram", help, labels };
}

/** How an effect on the bus can fail. */
export const FAILURES = [
  "fence-lost",
  "too-large",
  "denied",
  "unavailable",
  "no-responders",
  "timeout",
  "not-found",
] as const;
