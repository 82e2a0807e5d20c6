import {
  type HrTime,
  type Link,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan, SpanProcessor } from "@opentelemetry/sdk-trace";
import { parseTrace, type SpanEffect } from "@ringwall/actor";

/**
 * Turns span effects into OpenTelemetry spans. Their ids were chosen by the reducer and have
 * travelled with the messages, so the spans go to the processor as finished ones.
 */
export class Spans {
  readonly #resource: Resource;
  readonly #processor: SpanProcessor;

  constructor(resource: Resource, processor: SpanProcessor) {
    this.#resource = resource;
    this.#processor = processor;
  }

  /** Records a finished span; one whose trace is malformed or unsampled is not recorded. */
  record(effect: SpanEffect): void {
    const context = contextOf(effect.trace);
    if (context === undefined || context.traceFlags === TraceFlags.NONE) {
      return;
    }
    const parent = effect.parent === undefined ? undefined : contextOf(effect.parent);
    const links: Link[] = (effect.links ?? []).flatMap((link) => {
      const linked = contextOf(link);
      return linked === undefined ? [] : [{ context: linked }];
    });
    const span: ReadableSpan = {
      name: effect.name,
      kind: SpanKind.INTERNAL,
      spanContext: () => context,
      ...(parent === undefined ? {} : { parentSpanContext: parent }),
      startTime: hrTime(effect.startUnixMs),
      endTime: hrTime(effect.endUnixMs),
      duration: hrTime(Math.max(0, effect.endUnixMs - effect.startUnixMs)),
      status:
        effect.failed === undefined
          ? { code: SpanStatusCode.UNSET }
          : { code: SpanStatusCode.ERROR, message: effect.failed },
      attributes: effect.attributes ?? {},
      links,
      events: [],
      ended: true,
      resource: this.#resource,
      instrumentationScope: { name: "ringwall" },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
    this.#processor.onEnd(span);
  }

  /** Exports what is outstanding and ends. */
  async shutdown(): Promise<void> {
    await this.#processor.shutdown();
  }
}

function contextOf(trace: string): SpanContext | undefined {
  const parts = parseTrace(trace);
  if (parts === undefined) {
    return undefined;
  }
  return {
    traceId: parts.traceId,
    spanId: parts.spanId,
    traceFlags: parts.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  };
}

function hrTime(unixMs: number): HrTime {
  const seconds = Math.floor(unixMs / 1000);
  return [seconds, Math.round((unixMs - seconds * 1000) * 1_000_000)];
}
