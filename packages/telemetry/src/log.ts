import { parseTrace } from "@ringwall/actor";
import { type DestinationStream, type Logger, pino } from "pino";

/** Levels of a log line, least severe first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

/** A level of `LOG_LEVELS`; `silent` writes nothing. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A JSON logger: one object a line with level name, Unix-ms time, service and instance. */
export function createLogger(
  base: Readonly<Record<string, string>>,
  level: LogLevel,
  destination: DestinationStream = pino.destination({ fd: 1, sync: true }),
): Logger {
  return pino(
    { level, base, messageKey: "message", formatters: { level: (label) => ({ level: label }) } },
    destination,
  );
}

/** The fields that tie a log line to its trace; none without a valid traceparent. */
export function traceFields(trace: string | undefined): Record<string, string> {
  const parts = trace === undefined ? undefined : parseTrace(trace);
  return parts === undefined ? {} : { trace_id: parts.traceId, span_id: parts.spanId };
}
