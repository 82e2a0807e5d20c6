/**
 * Render, pull and plan of declared trees at three sizes, both profiles: microseconds of processor
 * time and bytes of heap per unit, and `growth`, how many times the per-unit time of the smallest size that is. Linear
 * growth is a growth of about 1. A unit of the ignition profile has two JSON files, one of the
 * ringwall profile one document.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  Content,
  generateManifest,
  IGNITION,
  type LiveTrees,
  type Profile,
  plan,
  pull,
  RINGWALL,
  render,
  treeOf,
} from "@ringwall/declared";
import { report, reportMachine } from "./harness.ts";

const SIZES = [1_000, 10_000, 100_000] as const;
/** Units measured per case in all; small trees are measured more often. */
const UNITS_PER_CASE = 20_000;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Runs every operation at every size. */
export function bench(): void {
  reportMachine("declared");
  const profiles = [
    [IGNITION, ignitionUnit],
    [RINGWALL, ringwallUnit],
  ] as const;
  for (const [profile, unit] of profiles) {
    const smallest = new Map<string, number>();
    for (const units of SIZES) benchSize(profile, unit, units, smallest);
  }
}

type Files = readonly (readonly [path: string, text: string])[];

function benchSize(
  profile: Profile,
  unit: (index: number) => Files,
  units: number,
  smallest: Map<string, number>,
): void {
  const live = liveTrees(unit, units);
  const { manifest } = generateManifest(profile, live);
  const place = { profile, manifest, gateway: "gw1", environment: "prod", os: "linux" } as const;
  const { tree, rendered } = pull({ ...place, live });
  const other: LiveTrees = { core: live.core, environment: treeOf([...live.environment].slice(2)) };
  const cases: readonly (readonly [string, () => unknown])[] = [
    ["render", () => render({ ...place, tree })],
    ["pull", () => pull({ ...place, live })],
    ["plan", () => plan({ profile, desired: rendered.layers, live: other })],
  ];
  for (const [name, run] of cases) {
    const { us, bytes } = perUnit(run, units);
    const first = smallest.get(name) ?? us;
    smallest.set(name, first);
    report({
      bench: "declared",
      case: `${name} ${profile.name}`,
      units,
      usPerUnit: Number(us.toPrecision(3)),
      heapBytesPerUnit: Math.round(bytes),
      growth: Number((us / first).toPrecision(3)),
    });
  }
}

/** Processor time of one run, so that other work on the machine does not count, and its result's heap. */
function perUnit(run: () => unknown, units: number): { us: number; bytes: number } {
  const durations: number[] = [];
  let bytes = 0;
  for (let round = 0; round < Math.max(2, Math.min(10, UNITS_PER_CASE / units)); round += 1) {
    held.result = undefined;
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const started = process.threadCpuUsage();
    held.result = run();
    const { user, system } = process.threadCpuUsage(started);
    durations.push(user + system);
    collectGarbage();
    bytes = process.memoryUsage().heapUsed - before;
  }
  return { us: Math.min(...durations) / units, bytes: Math.max(0, bytes / units) };
}

/** Keeps the last result alive until its heap was measured. */
const held: { result: unknown } = { result: undefined };

/** Most units in core, some in the environment, some in both. */
function liveTrees(unit: (index: number) => Files, units: number): LiveTrees {
  const core: [string, Content][] = [];
  const environment: [string, Content][] = [];
  for (let index = 0; index < units; index += 1) {
    for (const [path, text] of unit(index)) {
      if (index % 10 !== 0) core.push([path, Content.ofText(text)]);
      if (index % 5 === 0) environment.push([path, Content.ofText(text)]);
    }
  }
  return { core: treeOf(core), environment: treeOf(environment) };
}

function ignitionUnit(index: number): Files {
  const folder = `ignition/opc-connection/connection-${index}`;
  const uuid = `00000000-0000-8000-8000-${String(index).padStart(12, "0")}`;
  const layout = (value: object) => JSON.stringify(value, undefined, 2);
  return [
    [
      `${folder}/config.json`,
      layout({
        endpoint: { url: `opc.tcp://plc-${index}:4840`, mode: "SignAndEncrypt" },
        rate: 250,
      }),
    ],
    [
      `${folder}/resource.json`,
      layout({ scope: "A", version: 1, files: ["config.json"], attributes: { uuid } }),
    ],
  ];
}

function ringwallUnit(index: number): Files {
  const text = `kind: Service\nname: service-${index}\nentries:\n  - { protocol: tcp, ports: ["${index % 60_000}"] }\n`;
  return [[`policy/service/service-${index}/service.yaml`, text]];
}
