import { describe, expect, it } from "vitest";
import { childTrace, newTrace, parseTrace } from "./index.ts";

describe("traceparents", () => {
  it("keep the trace id and change the span id in a child", () => {
    const parent = newTrace(Math.random);
    const child = childTrace(parent, Math.random);
    expect(parseTrace(child)?.traceId).toBe(parseTrace(parent)?.traceId);
    expect(parseTrace(child)?.spanId).not.toBe(parseTrace(parent)?.spanId);
  });

  it("begin anew when the parent is malformed", () => {
    expect(parseTrace(childTrace("nonsense", Math.random))).toBeDefined();
    expect(parseTrace(childTrace(undefined, Math.random))?.sampled).toBe(true);
  });

  it("never name the zero id", () => {
    expect(parseTrace(newTrace(() => 0))).toBeDefined();
  });

  it("stay unsampled when the parent is", () => {
    const parent = newTrace(Math.random).replace(/01$/, "00");
    expect(parseTrace(childTrace(parent, Math.random))?.sampled).toBe(false);
  });
});
