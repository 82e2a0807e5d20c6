import type {
  Configuration,
  RulesetSpec,
  SelectorSpec,
  TrafficRouteSpec,
  WorkloadSpec,
} from "@ringwall/render";
import { Chance } from "./chance.ts";

/** An estate as its inputs. */
export interface Estate {
  readonly configuration: Configuration;
  readonly workloads: readonly WorkloadSpec[];
}

/** Sizes of an estate of many small namespaces. */
export interface NamespacedOptions {
  readonly seed: number;
  readonly namespaces: number;
  readonly workloadsPerNamespace: number;
  /** One rule in each. */
  readonly rulesetsPerNamespace: number;
}

/** Many namespaces that see only themselves: every ruleset's scope and peers are in its own. */
export function namespacedEstate(options: NamespacedOptions): Estate {
  const { seed, namespaces, workloadsPerNamespace, rulesetsPerNamespace } = options;
  const chance = new Chance(seed);
  // Workloads of a namespace do not come one after the other, so they are made in random order.
  const order = chance.shuffled(Array.from({ length: namespaces * workloadsPerNamespace }, at));
  const workloads = order.map((index) => {
    const namespace = Math.floor(index / workloadsPerNamespace);
    const app = `app-${(index % workloadsPerNamespace) % rulesetsPerNamespace}`;
    return makeWorkload(index, { ns: `ns-${namespace}`, app, env: envOf(namespace) });
  });
  const rulesets = Array.from({ length: namespaces * rulesetsPerNamespace }, (_, index) => {
    const ns = [`ns-${Math.floor(index / rulesetsPerNamespace)}`];
    const app = index % rulesetsPerNamespace;
    return makeRuleset(index, {
      scope: { ns, app: [`app-${app}`] },
      peers: { ns, app: [`app-${(app + 1) % rulesetsPerNamespace}`] },
      port: chance.between(1, 9_999),
    });
  });
  return { configuration: { ...NOTHING, rulesets }, workloads };
}

/** Sizes of an estate whose rules select by common labels. */
export interface SelectingOptions {
  readonly seed: number;
  readonly workloads: number;
  readonly rulesets: number;
  /** Workloads that are in the scope of any ruleset; default all. */
  readonly inScope?: number;
}

/** A few label sets that most workloads share and many that few have; selectors of two clauses. */
export function selectingEstate(options: SelectingOptions): Estate {
  const { seed, rulesets, inScope = options.workloads } = options;
  const chance = new Chance(seed);
  const apps = Math.max(8, Math.ceil(options.workloads / 50));
  const workloads = Array.from({ length: options.workloads }, (_, index) => {
    const app = chance.skewed(apps);
    return makeWorkload(index, {
      app: `app-${app}`,
      tier: `tier-${app % 5}`,
      team: `team-${app % 97}`,
      env: envOf(chance.below(4)),
      zone: `zone-${chance.below(3)}`,
      ...(index < inScope ? { guarded: "yes" } : {}),
    });
  });
  return {
    configuration: {
      ...NOTHING,
      rulesets: Array.from({ length: rulesets }, (_, index) =>
        makeRuleset(index, {
          scope: { app: [`app-${chance.skewed(apps)}`], guarded: ["yes"] },
          peers: { app: [`app-${chance.below(apps)}`], env: [envOf(chance.below(4))] },
          port: chance.between(1, 9_999),
        }),
      ),
    },
    workloads,
  };
}

/** Sizes of an estate in which every rule lets in every workload. */
export interface CrowdedOptions {
  readonly workloads: number;
  /** One rule in each. */
  readonly rulesets: number;
  /** Groups of workloads that the rulesets protect in turn; 1 puts all rules on every workload. */
  readonly groups: number;
}

/** Every rule selects all workloads. */
export function crowdedEstate({ workloads, rulesets, groups }: CrowdedOptions): Estate {
  return {
    configuration: {
      ...NOTHING,
      rulesets: Array.from({ length: rulesets }, (_, index) =>
        makeRuleset(index, {
          scope: { group: [`group-${index % groups}`] },
          peers: { fleet: ["all"] },
          port: 1 + (index % 9_999),
        }),
      ),
    },
    workloads: Array.from({ length: workloads }, (_, index) =>
      makeWorkload(index, { fleet: "all", group: `group-${index % groups}` }),
    ),
  };
}

/** Sizes of an estate that changes are measured on. */
export interface ChangingOptions {
  readonly seed: number;
  readonly workloads: number;
  /** Workloads that the shared ruleset protects, whatever the size of the estate. */
  readonly shared: number;
}

/** Workloads per application of a changing estate, so that one change reaches about 20. */
export const WORKLOADS_PER_APP = 20;

/**
 * Applications of 20 workloads each, protected by a ruleset of their own that lets in the next
 * application and whatever is labelled as its client, and calling one routed service. A ruleset for
 * `shared` workloads lets in what is labelled as a monitor.
 */
export function changingEstate({ seed, workloads, shared }: ChangingOptions): Estate {
  const chance = new Chance(seed);
  const apps = Math.ceil(workloads / WORKLOADS_PER_APP);
  const rulesets = Array.from({ length: apps }, (_, app) =>
    makeRuleset(
      app,
      {
        scope: { app: [`app-${app}`] },
        peers: { app: [`app-${(app + 1) % apps}`] },
        port: chance.between(1, 9_999),
      },
      [{ workloads: { client: [`app-${app}`] } }],
    ),
  );
  rulesets.push(
    makeRuleset(apps, {
      scope: { shared: ["yes"] },
      peers: { role: ["monitor"] },
      port: 9_100,
    }),
  );
  const routes: TrafficRouteSpec[] = Array.from({ length: Math.min(apps, 100) }, (_, app) => ({
    namespace: "shop",
    name: `route-${app}`,
    sources: [{ service: "*" }],
    destinations: [{ service: `shop/service-${app}` }],
    split: [
      { weight: 90, tags: { service: `shop/service-${app}` } },
      { weight: 10, tags: { service: `shop/service-${app}`, track: "canary" } },
    ],
  }));
  return {
    configuration: { ...NOTHING, rulesets, routes },
    workloads: Array.from({ length: workloads }, (_, index) => {
      const app = Math.floor(index / WORKLOADS_PER_APP);
      return {
        ...makeWorkload(index, {
          app: `app-${app}`,
          env: envOf(app),
          ...(index < shared ? { shared: "yes" } : {}),
        }),
        rows: index % WORKLOADS_PER_APP === 0 ? [makeRow(`shop/service-${app}`)] : [],
        outbounds: [`shop/service-${(app + 1) % apps}`],
      };
    }),
  };
}

/** One row of an HTTP service on port 8080. */
export function makeRow(service: string): WorkloadSpec["rows"][number] {
  return {
    service,
    port: 8_080,
    ports: [8_080],
    portClasses: { 8080: 1 },
    weight: 1_024,
    metadata: {},
  };
}

/** A live workload with an address of its own, by its number. */
export function makeWorkload(
  index: number,
  labels: Readonly<Record<string, string>>,
): WorkloadSpec {
  return {
    id: `w-${index}`,
    labels,
    addresses: [addressOf(index)],
    rows: [],
    outbounds: [],
    presence: "live",
    enforced: false,
  };
}

/** The address of a workload of this number, unique below 2^24. */
export function addressOf(index: number): string {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
}

interface RulesetShape {
  readonly scope: SelectorSpec;
  readonly peers: SelectorSpec;
  readonly port: number;
}

function makeRuleset(
  index: number,
  { scope, peers, port }: RulesetShape,
  more: RulesetSpec["rules"][number]["peers"] = [],
): RulesetSpec {
  return {
    name: `ruleset-${index}`,
    scope,
    rules: [
      {
        id: `0192f3a0-0000-7000-8000-${index.toString(16).padStart(12, "0")}`,
        peers: [{ workloads: peers }, ...more],
        entries: [{ protocol: "tcp", ports: [String(port)] }],
      },
    ],
  };
}

function envOf(index: number): string {
  return ["prod", "stage", "test", "dev"][index % 4] ?? "dev";
}

function at(_: unknown, index: number): number {
  return index;
}

const NOTHING: Configuration = {
  rulesets: [],
  services: [],
  addressGroups: [],
  routes: [],
  inventory: [],
};
