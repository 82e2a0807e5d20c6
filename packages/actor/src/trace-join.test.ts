import { describe, expect, it } from "vitest";
import { SPAN_LINKS_LIMIT, TraceJoin } from "./index.ts";

describe("joined traces", () => {
  it("continue the newest piece of work and link the older ones", () => {
    const join = new TraceJoin();
    join.add("a", 1);
    join.add(undefined, 2);
    join.add("b", 3);
    expect(join.take()).toEqual({ parent: "b", sinceUnixMs: 3, links: ["a"] });
    expect(join.take()).toBeUndefined();
  });

  it("count a piece that comes again once", () => {
    const join = new TraceJoin();
    join.add("a", 1);
    join.add("a", 5);
    expect(join.take()).toEqual({ parent: "a", sinceUnixMs: 1, links: [] });
  });

  it("keep a bounded number of links", () => {
    const join = new TraceJoin();
    for (let each = 0; each < 100; each += 1) join.add(`t${each}`, each);
    expect(join.take()?.links).toHaveLength(SPAN_LINKS_LIMIT);
  });
});
