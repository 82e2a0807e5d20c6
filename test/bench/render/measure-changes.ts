import {
  type Configuration,
  Engine,
  type Head,
  type SourceChange,
  type WorkloadSpec,
} from "@ringwall/render";
import {
  addressOf,
  changingEstate,
  type Estate,
  makeRow,
  WORKLOADS_PER_APP,
} from "@ringwall/testkit";
import { percentiles, report } from "../harness.ts";
import { type Encoded, encodeSteps } from "./encode-steps.ts";
import {
  assertSameHeads,
  collectGarbage,
  flush,
  renderWhole,
  snapshotOf,
  threadCpu,
} from "./flush.ts";

/** Workloads that one change of the shared ruleset's peers reaches. */
const SHARED = 10_000;
/** Applications that have a routed service. */
const ROUTED = 100;
const FEW = { warmUp: 1_000, samples: 3_000 };
const MANY = { warmUp: 100, samples: 400 };

const NOTHING: Configuration = {
  rulesets: [],
  services: [],
  addressGroups: [],
  routes: [],
  inventory: [],
};

/** Makes the change of a step; the same step number always makes another estate of it. */
type ChangeMaker = (step: number) => SourceChange;

/** Changes an estate of so many workloads in every way and prints one line for each. */
export function measureChanges(size: number): void {
  const live = new LiveEstate(changingEstate({ seed: 1, workloads: size, shared: SHARED }));
  const engine = new Engine();
  const heads = new Map(flush(engine, snapshotOf(live.estate)).heads);
  const before = renderWhole(live.estate);
  assertSameHeads(heads, before.digests);
  const apps = Math.ceil(size / WORKLOADS_PER_APP);
  const cases: readonly [string, typeof FEW, ChangeMaker][] = [
    ["label change, ~20 affected", FEW, (step) => live.relabel((step >> 1) % apps)],
    ["address change, ~20 affected", FEW, (step) => live.move(step % apps)],
    ["rule edit, ~20 affected", FEW, (step) => live.editRule(step % apps)],
    [
      "endpoint joins, ~20 affected",
      FEW,
      (step) => live.joinService(step % Math.min(apps, ROUTED)),
    ],
    ["label change, ~10000 affected", MANY, () => live.monitor()],
    ["address change, ~10000 affected", MANY, () => live.moveMonitor()],
  ];
  for (const [name, counts, change] of cases) {
    collectGarbage();
    const timed = measure(engine, counts, change, heads);
    report({
      bench: "render",
      case: `change at ${size}: ${name}`,
      unit: "us",
      ...timed,
      baseline: Math.round(before.milliseconds * 1_000),
    });
  }
  assertSameHeads(heads, renderWhole(live.estate).digests);
}

function measure(
  engine: Engine,
  { warmUp, samples }: typeof FEW,
  change: ChangeMaker,
  heads: Map<string, Head>,
) {
  const durations: number[] = [];
  let cpu = 0;
  let encoded: Encoded = { workloads: 0, steps: 0, bytes: 0 };
  for (let step = 0; step < warmUp + samples; step++) {
    const changes = [change(step)];
    const startCpu = threadCpu();
    const start = performance.now();
    const done = flush(engine, changes);
    encoded = encodeSteps(done, step);
    const duration = performance.now() - start;
    if (step >= warmUp) {
      durations.push(duration * 1_000);
      cpu += threadCpu() - startCpu;
    }
    for (const { to, workloads } of done.steps) {
      for (const workload of workloads) {
        heads.set(workload, to);
      }
    }
  }
  const { p50, p99 } = percentiles(durations);
  return {
    p50: Number(p50.toPrecision(3)),
    p99: Number(p99.toPrecision(3)),
    cpuMean: Number((cpu / samples).toPrecision(3)),
    samples,
    affected: encoded.workloads,
    deltas: encoded.steps,
    bytes: encoded.bytes,
  };
}

/** An estate that is changed one thing at a time. */
class LiveEstate {
  readonly #workloads: WorkloadSpec[];
  #configuration: Configuration;
  #counter = 0;

  constructor({ configuration, workloads }: Estate) {
    this.#configuration = configuration;
    this.#workloads = [...workloads];
  }

  get estate(): Estate {
    return { configuration: this.#configuration, workloads: this.#workloads };
  }

  /** A workload of another application becomes a client of this one, or no longer is. */
  relabel(app: number): SourceChange {
    return this.#change(this.#memberOf(app + 7), ({ labels: { client, ...labels }, ...rest }) => ({
      ...rest,
      labels: client === undefined ? { ...labels, client: `app-${app}` } : labels,
    }));
  }

  /** A workload of the application that this one lets in gets another address. */
  move(app: number): SourceChange {
    return this.#change(this.#memberOf(app + 1), (workload) => ({
      ...workload,
      addresses: [this.#newAddress()],
    }));
  }

  /** The application's ruleset opens another port. */
  editRule(app: number): SourceChange {
    const since = this.#configuration;
    const rulesets = [...since.rulesets];
    const ruleset = rulesets[app];
    const [rule] = ruleset?.rules ?? [];
    this.#counter += 1;
    if (ruleset === undefined || rule === undefined) {
      throw new Error(`application ${app} has no rule`);
    }
    const ports = [String(1 + (this.#counter % 60_000))];
    const edited = { ...ruleset, rules: [{ ...rule, entries: [{ protocol: "tcp", ports }] }] };
    rulesets[app] = edited;
    const configuration = { ...since, rulesets };
    this.#configuration = configuration;
    const only = (unit: typeof ruleset) => ({ ...NOTHING, rulesets: [unit] });
    const edits = { since, before: only(ruleset), after: only(edited) };
    return { kind: "configuration", configuration, edits };
  }

  /** One more workload serves the application's service, or no longer does. */
  joinService(app: number): SourceChange {
    return this.#change(app * WORKLOADS_PER_APP + 1, (workload) => ({
      ...workload,
      rows: workload.rows.length === 0 ? [makeRow(`shop/service-${app}`)] : [],
    }));
  }

  /** The last workload becomes a monitor, or no longer is. */
  monitor(): SourceChange {
    return this.#change(this.#workloads.length - 1, ({ labels: { role, ...labels }, ...rest }) => ({
      ...rest,
      labels: role === undefined ? { ...labels, role: "monitor" } : labels,
    }));
  }

  /** The last workload is a monitor and gets another address. */
  moveMonitor(): SourceChange {
    return this.#change(this.#workloads.length - 1, ({ labels, ...rest }) => ({
      ...rest,
      labels: { ...labels, role: "monitor" },
      addresses: [this.#newAddress()],
    }));
  }

  #memberOf(app: number): number {
    return (app * WORKLOADS_PER_APP + 3) % this.#workloads.length;
  }

  #newAddress(): string {
    this.#counter += 1;
    return addressOf(2 ** 23 + (this.#counter % 2 ** 22));
  }

  #change(index: number, edit: (workload: WorkloadSpec) => WorkloadSpec): SourceChange {
    const before = this.#workloads[index];
    if (before === undefined) {
      throw new Error(`no workload ${index}`);
    }
    const workload = edit(before);
    this.#workloads[index] = workload;
    return { kind: "workload", workload };
  }
}
