const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The parts of a W3C traceparent. */
export interface TraceParts {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly spanId: string;
  /** False if the trace is not recorded. */
  readonly sampled: boolean;
}

/** A new sampled traceparent; `random` is the step's. */
export function newTrace(random: () => number): string {
  return `00-${hex(random, 32)}-${hex(random, 16)}-01`;
}

/** A traceparent of the same trace with a span id of its own, or a new trace without a valid parent. */
export function childTrace(parent: string | undefined, random: () => number): string {
  const parts = parent === undefined ? undefined : parseTrace(parent);
  if (parts === undefined) {
    return newTrace(random);
  }
  return `00-${parts.traceId}-${hex(random, 16)}-${parts.sampled ? "01" : "00"}`;
}

/**
 * What work goes by: a child of the trace that it came with, or, for the share `ratio` of work that
 * came without one, a new trace. Undefined for the rest, which costs nothing further.
 */
export function sampledTrace(
  parent: string | undefined,
  ratio: number,
  random: () => number,
): string | undefined {
  if (parent !== undefined) {
    return childTrace(parent, random);
  }
  return ratio >= 1 || (ratio > 0 && random() < ratio) ? newTrace(random) : undefined;
}

/** Reads a traceparent; undefined if it is not of version 00 or names nothing. */
export function parseTrace(text: string): TraceParts | undefined {
  const match = TRACEPARENT.exec(text);
  const [, traceId, spanId, flags] = match ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) {
    return undefined;
  }
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) {
    return undefined;
  }
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

function hex(random: () => number, digits: number): string {
  let text = "";
  while (text.length < digits) {
    text += Math.floor(random() * 0x1_0000)
      .toString(16)
      .padStart(4, "0");
  }
  // All zeros is not a valid id.
  return /^0+$/.test(text) ? `${text.slice(1)}1` : text;
}
