import { type Moment, type SpanEffect, sampledTrace, TraceJoin } from "@ringwall/actor";
import type { Job } from "./job.ts";

/** The trace of one append, and what its span will say. */
export interface WriteTrace {
  /** Traceparent that the record carries. */
  readonly trace: string;
  readonly parent: string | undefined;
  readonly links: readonly string[];
  readonly startUnixMs: number;
}

/**
 * What an append for these jobs goes by: the newest trace that they came with, linked to the others.
 * Without any, the given share of registrations begins one; what the control plane does by itself
 * (presence, marks) begins none.
 */
export function traceWrite(
  jobs: readonly Job[],
  ratio: number,
  { wallMs, monotonicMs, random }: Moment,
): WriteTrace | undefined {
  const join = new TraceJoin();
  for (const { trace, sinceMs } of jobs) {
    join.add(trace, wallMs - (monotonicMs - sinceMs));
  }
  const joined = join.take();
  const asked = jobs.some(({ operation: { kind } }) => kind !== "presence" && kind !== "enforced");
  const trace = sampledTrace(joined?.parent, asked ? ratio : 0, random);
  if (trace === undefined) {
    return undefined;
  }
  const sinceMs = jobs[0]?.sinceMs ?? monotonicMs;
  return {
    trace,
    parent: joined?.parent,
    links: joined?.links ?? [],
    startUnixMs: joined?.sinceUnixMs ?? wallMs - (monotonicMs - sinceMs),
  };
}

/** The span of an append that was stored. */
export function writeSpan(
  { trace, parent, links, startUnixMs }: WriteTrace,
  written: { readonly workload: string; readonly partition: number; readonly revision: number },
  endUnixMs: number,
): SpanEffect {
  return {
    kind: "span",
    name: "register",
    trace,
    ...(parent === undefined ? {} : { parent }),
    links,
    startUnixMs,
    endUnixMs,
    attributes: {
      "ringwall.workload": written.workload,
      "ringwall.partition": written.partition,
      "ringwall.registry_revision": written.revision,
    },
  };
}
