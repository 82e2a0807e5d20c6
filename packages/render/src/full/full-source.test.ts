import { assemble, marshal } from "@ringwall/rendered";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BodyChanges, SourceChange } from "../body-source.ts";
import { configurations, workloadLists } from "./estate-arbitrary.ts";
import { FullSource } from "./full-source.ts";
import { renderAll } from "./render-steps.ts";

function flush(source: FullSource, changes: SourceChange[] = []): BodyChanges {
  source.apply(changes);
  source.begin();
  for (;;) {
    const done = source.work();
    if (done !== undefined) {
      return done;
    }
  }
}

describe("FullSource", () => {
  it("gives bodies that assemble to what a full render gives, and nothing twice", () => {
    fc.assert(
      fc.property(configurations, workloadLists, (configuration, workloads) => {
        const source = new FullSource();
        const { heads } = flush(source, [
          { kind: "configuration", configuration },
          ...workloads.map((workload) => ({ kind: "workload" as const, workload })),
        ]);
        const rendered = renderAll(configuration, workloads);
        expect(heads.size).toBe(rendered.size);
        for (const [id, head] of heads) {
          const outcome = rendered.get(id);
          const manifest = head.kind === "body" ? source.object(head.digest) : undefined;
          if (outcome === undefined || !("policy" in outcome) || manifest === undefined) {
            throw new Error(`no body of ${id}`);
          }
          const policy = assemble(manifest, (digest) => source.object(digest), 0n);
          expect(marshal(policy)).toEqual(marshal(outcome.policy));
        }
        const again = flush(source);
        expect([again.heads.size, again.removed.length]).toEqual([0, 0]);
      }),
      { numRuns: 100 },
    );
  });

  it("nets out what came back to where it was and names what is gone", () => {
    const configuration = {
      rulesets: [],
      services: [],
      addressGroups: [],
      routes: [],
      inventory: [],
    };
    const workload = (id: string) => ({
      id,
      labels: {},
      addresses: [],
      rows: [],
      outbounds: [],
      presence: "live" as const,
      enforced: false,
    });
    const source = new FullSource();
    flush(source, [
      { kind: "configuration", configuration },
      { kind: "workload", workload: workload("a") },
      { kind: "workload", workload: workload("b") },
    ]);
    const { heads, removed } = flush(source, [
      { kind: "removal", id: "a" },
      { kind: "workload", workload: workload("a") },
      { kind: "removal", id: "b" },
      { kind: "removal", id: "nobody" },
      { kind: "workload", workload: { ...workload("c"), enforced: true } },
    ]);
    expect([...heads].map(([id, { mode }]) => [id, mode])).toEqual([["c", "enforced"]]);
    expect(removed).toEqual(["b"]);
  });

  it("leaves changes that are applied during a flush to the next one", () => {
    const source = new FullSource();
    source.begin();
    const workload = {
      id: "late",
      labels: {},
      addresses: [],
      rows: [],
      outbounds: [],
      presence: "live" as const,
      enforced: false,
    };
    source.apply([{ kind: "workload", workload }]);
    expect(flush(source).heads.size).toBe(0);
    expect(flush(source).heads.size).toBe(1);
  });
});
