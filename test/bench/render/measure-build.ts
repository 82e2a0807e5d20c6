import { Engine } from "@ringwall/render";
import { crowdedEstate, type Estate, namespacedEstate, selectingEstate } from "@ringwall/testkit";
import { report } from "../harness.ts";
import { assertSameHeads, collectGarbage, renderWhole, snapshotOf, threadCpu } from "./flush.ts";

const MEGABYTE = 1_000_000;

/** Builds the engine from a whole estate and prints one line. */
export function measureBuild(name: string): void {
  const estate = estateOf(name);
  collectGarbage();
  const inputs = process.memoryUsage().rss;
  const engine = new Engine();
  const startCpu = threadCpu();
  const { changes, milliseconds, worst } = build(engine, estate, performance.now());
  const cpu = (threadCpu() - startCpu) / 1_000;
  const peak = process.resourceUsage().maxRSS * 1024;
  const { heads } = changes;
  const digests = [...heads.values()].flatMap((head) => (head.kind === "body" ? head.digest : []));
  const bodies = new Set(digests);
  const sets = new Set([...bodies].flatMap((digest) => engine.objectsOf(digest).slice(1)));
  const { labelSets, selectors } = engine.sizes();
  const whole = renderWhole(estate);
  assertSameHeads(heads, whole.digests);
  report({
    bench: "render",
    case: `build ${name}`,
    unit: "ms",
    workloads: estate.workloads.length,
    rulesets: estate.configuration.rulesets.length,
    time: Math.round(milliseconds),
    cpu: Math.round(cpu),
    longestSlice: Number(worst.toFixed(1)),
    peakMb: Math.round(peak / MEGABYTE),
    inputsMb: Math.round(inputs / MEGABYTE),
    bodies: bodies.size,
    refused: heads.size - digests.length,
    peerSets: sets.size,
    labelSets,
    selectors,
    baseline: Math.round(whole.milliseconds),
    ratio: Number((whole.milliseconds / milliseconds).toPrecision(3)),
  });
}

function build(engine: Engine, estate: Estate, start: number) {
  engine.apply(snapshotOf(estate));
  engine.begin();
  let worst = 0;
  for (;;) {
    const began = performance.now();
    const changes = engine.work();
    const now = performance.now();
    worst = Math.max(worst, now - began);
    if (changes !== undefined) {
      // Steps are what a renderer goes on with; heads by workload are for comparing.
      return { changes, milliseconds: now - start, worst };
    }
  }
}

function estateOf(name: string): Estate {
  switch (name) {
    case "a":
      return namespacedEstate({
        seed: 1,
        namespaces: 25_000,
        workloadsPerNamespace: 4,
        rulesetsPerNamespace: 3,
      });
    case "b":
      return selectingEstate({ seed: 1, workloads: 250_000, rulesets: 10_000, inScope: 200 });
    case "c-refused":
      return crowdedEstate({ workloads: 10_000, rulesets: 10_000, groups: 1 });
    case "c-shared":
      return crowdedEstate({ workloads: 10_000, rulesets: 10_000, groups: 100 });
    default:
      throw new Error(`no such estate: ${name}`);
  }
}
