/** How finished spans are gathered before they are exported. */
export interface BatchOptions {
  readonly scheduledDelayMillis: number;
  readonly maxQueueSize: number;
  readonly maxExportBatchSize: number;
  readonly exportTimeoutMillis: number;
}

/** Settings by standard variable, with the standard's defaults. */
const VARIABLES = {
  scheduledDelayMillis: ["OTEL_BSP_SCHEDULE_DELAY", 5000],
  // Above the standard's 2048: one commit gives a span for each agent that it concerns.
  maxQueueSize: ["OTEL_BSP_MAX_QUEUE_SIZE", 32_768],
  maxExportBatchSize: ["OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512],
  exportTimeoutMillis: ["OTEL_BSP_EXPORT_TIMEOUT", 30_000],
} as const;

/** Reads the `OTEL_BSP_*` variables. Throws RangeError on what is no whole number above 0. */
export function batchOptions(
  environment: Readonly<Record<string, string | undefined>>,
): BatchOptions {
  const read = (key: keyof typeof VARIABLES): number => {
    const [variable, fallback] = VARIABLES[key];
    const text = environment[variable] || String(fallback);
    if (!/^[1-9][0-9]{0,8}$/.test(text)) {
      throw new RangeError(`${variable} is "${text}"; it must be a whole number above 0`);
    }
    return Number(text);
  };
  return {
    scheduledDelayMillis: read("scheduledDelayMillis"),
    maxQueueSize: read("maxQueueSize"),
    maxExportBatchSize: Math.min(read("maxExportBatchSize"), read("maxQueueSize")),
    exportTimeoutMillis: read("exportTimeoutMillis"),
  };
}
