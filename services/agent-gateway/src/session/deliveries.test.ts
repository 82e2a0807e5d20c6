import { parseTrace } from "@ringwall/actor";
import { bodyDigest } from "@ringwall/rendered";
import { describe, expect, it } from "vitest";
import type { Bench } from "../testing/bench.ts";
import { advance, body } from "../testing/records.ts";
import { store, synced } from "../testing/scenes.ts";

/** A traceparent of a trace of its own. */
function trace(number: number): string {
  return `00-${String(number).padStart(32, "0")}-${String(number).padStart(16, "0")}-01`;
}

/** Advances web-1 from version to version, each record with a trace of its own. */
function advances(bench: Bench, from: number, count: number): void {
  const bodies = Array.from({ length: count + 1 }, (_, index) => body(`10.0.${from}.${index}/32`));
  store(bench, ...bodies);
  for (let index = 0; index < count; index += 1) {
    const [before, after] = [bodies[index], bodies[index + 1]];
    if (before === undefined || after === undefined) throw new Error("too few bodies");
    expect(bodyDigest(before)).not.toBe(bodyDigest(after));
    const version = from + index;
    const record = advance(
      "rw",
      "web-1",
      { version, policy: before },
      { version: version + 1, policy: after },
    );
    bench.feed({ ...record, headers: { traceparent: trace(version + 1) } });
  }
}

function spans(bench: Bench, name: string) {
  return bench.all("span").filter((span) => span.name === name);
}

describe("the spans of a delivery", () => {
  it("lie below the record: deliver, push, and the trace that goes to the agent", () => {
    const bench = synced();
    advances(bench, 1, 1);
    const sent = bench.all("publish").findLast(({ subject }) => subject.endsWith(".down"));
    bench.ack(bench.push());
    const [deliver] = spans(bench, "deliver");
    const [push] = spans(bench, "push");
    expect(deliver?.parent).toBe(trace(2));
    expect(push?.parent).toBe(deliver?.trace);
    expect(sent?.trace).toBe(push?.trace);
    expect(push?.attributes).toMatchObject({ "ringwall.workload": "web-1", "ringwall.version": 2 });
  });

  it("link what a slow agent gets in one go", () => {
    const bench = synced();
    advances(bench, 1, 8);
    for (const down of bench.pushes().slice(1)) bench.ack(down);
    bench.ack(bench.push());
    const push = spans(bench, "push").at(-1);
    expect(push?.attributes?.["ringwall.version"]).toBe(9);
    expect(parseTrace(push?.trace ?? "")?.traceId).toBe(parseTrace(trace(9))?.traceId);
    expect(push?.links?.map((link) => parseTrace(link)?.traceId)).toEqual(
      [6, 7, 8].map((number) => parseTrace(trace(number))?.traceId),
    );
  });

  it("say so when a push is not acknowledged", () => {
    const bench = synced();
    advances(bench, 1, 1);
    bench.hello("web-1", { nonce: 43n });
    expect(spans(bench, "push")[0]?.failed).toBe("not acknowledged");
  });
});
