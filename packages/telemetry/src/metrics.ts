import type { Counter, Gauge, Histogram, Meter } from "@opentelemetry/api";
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import type { Resource } from "@opentelemetry/resources";
import { type IMetricReader, MeterProvider } from "@opentelemetry/sdk-metrics";
import type { CountEffect, GaugeEffect, ObserveEffect } from "@ringwall/actor";
import { describeMetric, metricsOf, zeroSeries } from "./catalogue/index.ts";

/** Most metric names of one process: names come from closed sets, so more is a fault of the code. */
export const METRIC_NAMES_LIMIT = 256;

const SECONDS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const BUCKETS: readonly { readonly suffix: string; readonly boundaries: number[] }[] = [
  { suffix: "_seconds", boundaries: [...SECONDS, 5, 10, 30, 60] },
  {
    suffix: "_bytes",
    boundaries: [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 33_554_432],
  },
  { suffix: "", boundaries: [1, 2, 5, 10, 50, 100, 500, 1000, 5000, 10_000, 100_000] },
];

/** Counters, gauges and histograms of the catalogue by name, read as a Prometheus page and by further readers. */
export class Metrics {
  readonly #page = new PrometheusExporter({ preventServerStart: true });
  readonly #serializer = new PrometheusSerializer("", false, undefined, true, true);
  readonly #provider: MeterProvider;
  readonly #meter: Meter;
  readonly #counters = new Map<string, Counter>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #histograms = new Map<string, Histogram>();

  constructor(resource: Resource, readers: readonly IMetricReader[] = []) {
    this.#provider = new MeterProvider({ resource, readers: [this.#page, ...readers] });
    this.#meter = this.#provider.getMeter("ringwall");
  }

  /** Shows the counters of a process of the catalogue at 0, so that their first increase is one. */
  begin(process: string): void {
    for (const metric of metricsOf(process)) {
      for (const labels of zeroSeries(metric)) {
        this.count({ name: metric.name, by: 0, labels });
      }
    }
  }

  /** Adds to a counter; adding 0 makes the series visible. */
  count(effect: Omit<CountEffect, "kind">): void {
    const counter = this.#instrument(this.#counters, effect.name, (name) =>
      // The page appends "_total" to counters by itself.
      this.#meter.createCounter(name.replace(/_total$/, ""), described(name)),
    );
    counter.add(effect.by ?? 1, effect.labels);
  }

  /** Sets a gauge. */
  gauge(effect: Omit<GaugeEffect, "kind">): void {
    const gauge = this.#instrument(this.#gauges, effect.name, (name) =>
      this.#meter.createGauge(name, described(name)),
    );
    gauge.record(effect.value, effect.labels);
  }

  /** Records a value of a histogram, whose buckets follow from the unit in its name. */
  observe(effect: Omit<ObserveEffect, "kind">): void {
    const histogram = this.#instrument(this.#histograms, effect.name, (name) => {
      const boundaries = BUCKETS.find(({ suffix }) => name.endsWith(suffix))?.boundaries ?? [];
      return this.#meter.createHistogram(name, {
        ...described(name),
        advice: { explicitBucketBoundaries: boundaries },
      });
    });
    histogram.record(effect.value, effect.labels);
  }

  /** The present values as a Prometheus text page. */
  async page(): Promise<string> {
    const { resourceMetrics } = await this.#page.collect();
    return this.#serializer.serialize(resourceMetrics);
  }

  /** Exports what is outstanding and ends. */
  async shutdown(): Promise<void> {
    await this.#provider.shutdown();
  }

  #instrument<T>(known: Map<string, T>, name: string, create: (name: string) => T): T {
    let instrument = known.get(name);
    if (instrument === undefined) {
      const names = this.#counters.size + this.#gauges.size + this.#histograms.size;
      if (names >= METRIC_NAMES_LIMIT) {
        throw new RangeError(
          `metric "${name}" is the ${names + 1}th name; ${METRIC_NAMES_LIMIT} are allowed`,
        );
      }
      instrument = create(name);
      known.set(name, instrument);
    }
    return instrument;
  }
}

function described(name: string): { description?: string } {
  const metric = describeMetric(name);
  return metric === undefined ? {} : { description: metric.help };
}
