import { parseTrace } from "@ringwall/actor";
import { describe, expect, it } from "vitest";
import type { Job } from "./job.ts";
import { traceWrite, writeSpan } from "./write-trace.ts";

const FIRST = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const SECOND = "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203332-01";
const MOMENT = { wallMs: 5_000, monotonicMs: 1_000, random: () => 0.5 };

function job(trace: string | undefined, sinceMs: number, presence = false): Job {
  const operation = presence
    ? ({ kind: "enforced", enforced: true } as const)
    : ({ kind: "deregister" } as const);
  const traced = trace === undefined ? {} : { trace };
  return { id: "web-1", operation, sinceMs, settle: () => undefined, ...traced };
}

describe("the trace of a write", () => {
  it("continues the newest request and links those that share the write", () => {
    const traced = traceWrite([job(FIRST, 900), job(SECOND, 950)], 1, MOMENT);
    expect(traced).toMatchObject({ parent: SECOND, links: [FIRST], startUnixMs: 4_950 });
    expect(parseTrace(traced?.trace ?? "")?.traceId).toBe(parseTrace(SECOND)?.traceId);
  });

  it("begins for a registration that came without one, if it is sampled", () => {
    const traced = traceWrite([job(undefined, 990)], 1, MOMENT);
    expect(traced?.parent).toBeUndefined();
    expect(traced?.startUnixMs).toBe(4_990);
    expect(traceWrite([job(undefined, 990)], 0, MOMENT)).toBeUndefined();
    expect(traceWrite([job(undefined, 990)], 0.4, MOMENT)).toBeUndefined();
  });

  it("does not begin for what the control plane does by itself", () => {
    expect(traceWrite([job(undefined, 990, true)], 1, MOMENT)).toBeUndefined();
  });

  it("ends as a span that names workload, partition and revision", () => {
    const traced = traceWrite([job(FIRST, 900)], 1, MOMENT);
    if (traced === undefined) throw new Error("not traced");
    const span = writeSpan(traced, { workload: "web-1", partition: 7, revision: 12 }, 5_010);
    expect(span).toMatchObject({
      name: "register",
      parent: FIRST,
      startUnixMs: 4_900,
      endUnixMs: 5_010,
      attributes: {
        "ringwall.workload": "web-1",
        "ringwall.partition": 7,
        "ringwall.registry_revision": 12,
      },
    });
  });
});
