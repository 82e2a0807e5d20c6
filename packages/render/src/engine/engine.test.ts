import { fromBinary } from "@bufbuild/protobuf";
import { assemble, describe as describeChange, marshal } from "@ringwall/rendered";
import { PolicyDeltaSchema } from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BodyChanges, Head, SourceChange } from "../body-source.ts";
import { configurations, workloadLists } from "../full/estate-arbitrary.ts";
import { renderAll } from "../full/render-steps.ts";
import type { Configuration, SelectorSpec, WorkloadSpec } from "../model.ts";
import { Engine } from "./engine.ts";

function flush(engine: Engine, changes: SourceChange[] = []): BodyChanges {
  engine.apply(changes);
  engine.begin();
  for (;;) {
    const done = engine.work();
    if (done !== undefined) {
      return done;
    }
  }
}

describe("Engine", () => {
  it("gives bodies that assemble to what a full render gives, and nothing twice", () => {
    fc.assert(
      fc.property(configurations, workloadLists, (configuration, workloads) => {
        const engine = new Engine();
        const { heads } = flush(engine, [
          { kind: "configuration", configuration },
          ...workloads.map((workload) => ({ kind: "workload" as const, workload })),
        ]);
        const rendered = renderAll(configuration, workloads);
        expect(heads.size).toBe(rendered.size);
        for (const [id, head] of heads) {
          const outcome = rendered.get(id);
          const manifest = head.kind === "body" ? engine.object(head.digest) : undefined;
          if (outcome === undefined || !("policy" in outcome) || manifest === undefined) {
            throw new Error(`no body of ${id}`);
          }
          const policy = assemble(manifest, (digest) => engine.object(digest), 0n);
          expect(marshal(policy)).toEqual(marshal(outcome.policy));
        }
        const again = flush(engine);
        expect([again.heads.size, again.removed.length]).toEqual([0, 0]);
      }),
      { numRuns: 100 },
    );
  });

  it("nets out what came back to where it was and names what is gone", () => {
    const engine = new Engine();
    flush(engine, [put("a"), put("b")]);
    const { heads, removed } = flush(engine, [
      { kind: "removal", id: "a" },
      put("a"),
      { kind: "removal", id: "b" },
      put("c", { enforced: true }),
      put("d"),
      { kind: "removal", id: "d" },
      { kind: "removal", id: "nobody" },
    ]);
    expect([...heads].map(([id, { mode }]) => [id, mode])).toEqual([["c", "enforced"]]);
    expect(removed).toEqual(["b"]);
  });

  it("leaves changes that are applied during a flush to the next one", () => {
    const engine = new Engine();
    engine.begin();
    engine.apply([put("late")]);
    expect(flush(engine).heads.size).toBe(0);
    expect(flush(engine).heads.size).toBe(1);
  });

  it("gives each step its delta, and the same bytes however many workloads take it", () => {
    const engine = new Engine();
    flush(engine, [
      { kind: "configuration", configuration: lettingIn({ role: ["client"] }) },
      put("a", { labels: { app: "web" } }),
      put("b", { labels: { app: "web" } }),
      put("c"),
    ]);
    const client = { labels: { role: "client" }, addresses: ["10.0.0.1"] };
    const { steps } = flush(engine, [put("c", client)]);
    expect(steps.map(({ workloads }) => [...workloads].sort())).toEqual([["a", "b"]]);
    const [step] = steps;
    const delta = fromBinary(PolicyDeltaSchema, step?.delta() ?? new Uint8Array());
    expect(delta.changes.map(describeChange)).toEqual([
      "add peers 0192f3a0-0000-7000-8000-000000000001/tcp +10.0.0.1/32",
    ]);
    expect(step?.delta()).toBe(step?.delta());
  });

  it("renders a class anew when a workload returns after its peers have changed", () => {
    const engine = new Engine();
    const configuration = lettingIn({ role: ["client"] });
    const web = put("web", { labels: { app: "web" } });
    flush(engine, [{ kind: "configuration", configuration }, web]);
    flush(engine, [{ kind: "removal", id: "web" }]);
    flush(engine, [put("c", { labels: { role: "client" }, addresses: ["10.0.0.1"] })]);
    const { heads } = flush(engine, [web]);
    const fresh = new Engine();
    const { heads: wanted } = flush(fresh, [
      web,
      put("c", { labels: { role: "client" }, addresses: ["10.0.0.1"] }),
      { kind: "configuration", configuration },
    ]);
    expect(heads.get("web")).toEqual(wanted.get("web"));
  });

  it("says nothing of a build that is given up, and the same after the next one", () => {
    const changes = [
      { kind: "configuration" as const, configuration: lettingIn({ app: ["web"] }) },
      ...Array.from({ length: 3_000 }, (_, index) =>
        put(`w${index}`, {
          labels: { app: "web" },
          addresses: [`10.0.${index >> 8}.${index & 255}`],
        }),
      ),
    ];
    const killed = new Engine();
    killed.apply(changes);
    killed.begin();
    expect([killed.work(), killed.work()]).toEqual([undefined, undefined]);
    expect(killed.progress()).toEqual({ phase: "reading", done: 2_000, total: 3_000 });
    const { heads } = flush(new Engine(), changes);
    expect(flush(new Engine(), changes.toReversed()).heads).toEqual(heads);
  });

  it("keeps objects readable until a flush has ended and forgets them afterwards", () => {
    const engine = new Engine();
    const webs = (octet: number) =>
      Array.from({ length: 6_000 }, (_, index) =>
        put(`w${index}`, {
          labels: { app: "web", half: String(index % 2), octet: String(octet) },
          addresses: [`10.${octet}.${index >> 8}.${index & 255}`],
        }),
      );
    const configuration = lettingIn({ app: ["web"] });
    const { heads } = flush(engine, [{ kind: "configuration", configuration }, ...webs(1)]);
    const digest = digestOf(heads, "w0");
    const objects = engine.objectsOf(digest).map((each) => engine.object(each));
    expect(objects).toHaveLength(2);
    engine.apply([
      ...webs(2),
      { kind: "configuration", configuration: lettingIn({ half: ["1"] }) },
    ]);
    engine.begin();
    let slices = 0;
    while (engine.work() === undefined) {
      slices += 1;
      expect(engine.objectsOf(digest).map((each) => engine.object(each))).toEqual(objects);
    }
    expect(slices).toBeGreaterThan(3);
    flush(engine);
    expect([engine.objectsOf(digest), engine.object(digest)]).toEqual([[], undefined]);
  });
});

function put(id: string, more: Partial<WorkloadSpec> = {}) {
  const workload: WorkloadSpec = {
    id,
    labels: {},
    addresses: [],
    rows: [],
    outbounds: [],
    presence: "live",
    enforced: false,
    ...more,
  };
  return { kind: "workload" as const, workload };
}

/** A ruleset that lets workloads into those labelled app=web. */
function lettingIn(workloads: SelectorSpec): Configuration {
  return {
    rulesets: [
      {
        name: "web",
        scope: { app: ["web"] },
        rules: [
          {
            id: "0192f3a0-0000-7000-8000-000000000001",
            peers: [{ workloads }],
            entries: [{ protocol: "tcp", ports: ["80"] }],
          },
        ],
      },
    ],
    services: [],
    addressGroups: [],
    routes: [],
    inventory: [],
  };
}

function digestOf(heads: ReadonlyMap<string, Head>, id: string): string {
  const head = heads.get(id);
  return head?.kind === "body" ? head.digest : "";
}
