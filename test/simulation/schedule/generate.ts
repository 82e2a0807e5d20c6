import type { StreamName } from "@ringwall/bus";
import { derivedSeed, type Faults, seededRandom } from "@ringwall/testkit";
import { badFile, someDeclaration, someFile, someInventory, WORKLOADS } from "./estate.ts";
import type { Action, Move, Setting } from "./move.ts";

const SERVICES = ["registrar", "renderer", "keeper", "gateway"] as const;

/** Streams that may be lost or go back, alone or together. */
const LOSSES: readonly (readonly StreamName[])[] = [
  ["VERSIONS"],
  ["RENDERED"],
  ["CONTENT"],
  ["CHECKPOINTS"],
  ["VERSIONS", "CHECKPOINTS"],
  ["RENDERED", "CONTENT"],
  ["REGISTRY"],
  ["CONFIG"],
  ["CONFIG", "BLOBS"],
  ["OWNERS", "STATUS"],
  [
    "CONFIG",
    "BLOBS",
    "REGISTRY",
    "RENDERED",
    "CONTENT",
    "VERSIONS",
    "CHECKPOINTS",
    "OWNERS",
    "STATUS",
  ],
];

/** Subjects that may be denied to a service. */
const DENIALS: readonly string[] = [
  "rw.version.*",
  "rw.rendered.*",
  "rw.content.>",
  "rw.checkpoint.>",
  "$KV.rw-REGISTRY.>",
  "$KV.rw-OWNERS.>",
  "$KV.rw-STATUS.>",
  "rw.agent.*.down",
  "rw.gateway.session",
  "rw.internal.>",
  "rw.api.workload.>",
];

/** Kinds of actions with their weights; each seed leaves some of the faults out. */
const OPERATIONS: readonly [Action["kind"], number][] = [
  ["commit", 22],
  ["commit-bad", 1],
  ["declare", 12],
  ["deregister", 3],
  ["inventory", 8],
];
const FAULTS: readonly [Action["kind"], number][] = [
  ["crash", 8],
  ["noise", 5],
  ["freeze", 3],
  ["cut", 4],
  ["agent-away", 2],
  ["replace", 2],
  ["server", 1],
  ["backup", 1],
  ["restore", 1],
  ["wipe", 1],
  ["undo-loss", 1],
  ["accept", 1],
  ["skew", 1],
  ["deny", 2],
  ["slow", 3],
  ["refuse", 4],
  ["unwritable", 2],
  ["reboot", 2],
  ["old-image", 1],
  ["tamper", 3],
];

/** Chance as the generator draws it. */
export interface Dice {
  readonly random: () => number;
  pick<Item>(items: readonly Item[]): Item;
  /** A whole number below `limit`. */
  below(limit: number): number;
}

/** Dice of a seed. */
export function dice(seed: number, name: string): Dice {
  const random = seededRandom(derivedSeed(seed, name));
  const below = (limit: number) => Math.floor(random() * limit);
  return {
    random,
    below,
    pick: (items) => picked(items, below(items.length)),
  };
}

function picked<Item>(items: readonly Item[], at: number): Item {
  if (items.length === 0) {
    throw new RangeError("nothing to pick from");
  }
  // The index is below the length; an item may be undefined on purpose.
  return items[at] as Item;
}

/** The setting and the schedule of a seed: the same for ever, and a prefix for fewer steps. */
export function generate(seed: number, steps: number): Setting {
  const setting = dice(seed, "setting");
  const instances = setting.pick([1, 2, 2, 2, 3]);
  const hurried = setting.pick([true, false]);
  const weights = [
    ...OPERATIONS,
    ...FAULTS.filter(() => setting.random() < 0.6),
    ["nothing", 6] as const,
  ];
  const chance = dice(seed, "moves");
  const moves: Move[] = [];
  for (let step = 0; step < steps; step += 1) {
    moves.push({ action: someAction(weights, instances, chance), thenMs: someGap(chance) });
  }
  return { instances, hurried, moves };
}

function someGap(chance: Dice): number {
  switch (chance.pick(["none", "short", "short", "short", "middle", "long"])) {
    case "none":
      return 0;
    case "short":
      return chance.random() * 20;
    case "middle":
      return chance.random() * 300;
    default:
      return chance.random() < 0.2 ? chance.random() * 8000 : chance.random() * 1000;
  }
}

function someAction(
  weights: readonly (readonly [Action["kind"], number])[],
  instances: number,
  chance: Dice,
): Action {
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  let at = chance.random() * total;
  for (const [kind, weight] of weights) {
    at -= weight;
    if (at < 0) {
      return action(kind, instances, chance);
    }
  }
  return { kind: "nothing" };
}

function action(kind: Action["kind"], instances: number, chance: Dice): Action {
  const { pick, below, random } = chance;
  const workload = pick(WORKLOADS);
  const service = () => `${pick(SERVICES)}-${1 + below(instances)}`;
  const anyone = () => (random() < 0.3 ? `agent-${workload}` : service());
  const upTo = (ms: number) => Math.ceil(random() * ms);
  switch (kind) {
    case "commit": {
      const files = Array.from({ length: pick([1, 1, 1, 2, 3]) }, () => someFile(pick));
      const unlike = new Map(files.map((file) => [`${file.layer} ${file.path}`, file]));
      return { kind, operator: below(2), files: [...unlike.values()] };
    }
    case "commit-bad":
      return { kind, operator: below(2), file: badFile(pick) };
    case "declare":
      return { kind, declaration: someDeclaration(workload, pick) };
    case "deregister":
      return { kind, workload };
    case "inventory":
      return { kind, workload, inventory: someInventory(workload, pick) };
    case "agent-away":
      return { kind, workload, forMs: upTo(pick([500, 5000, 40_000])) };
    case "replace":
      return { kind, actor: service(), downMs: upTo(4000) };
    case "crash":
      return {
        kind,
        actor: anyone(),
        afterMessages: below(pick([3, 30, 300])),
        downMs: upTo(pick([50, 2000, 9000])),
      };
    case "freeze":
      return { kind, actor: anyone(), forMs: upTo(pick([200, 5000, 12_000])) };
    case "cut":
      return { kind, actor: anyone(), forMs: upTo(pick([100, 3000, 9000])) };
    case "noise":
      return { kind, faults: someNoise(chance), forMs: upTo(pick([100, 2000, 6000])) };
    case "server":
      return { kind, downMs: upTo(pick([50, 3000])) };
    case "restore":
    case "wipe":
      return { kind, streams: pick(LOSSES), downMs: upTo(pick([50, 2000])) };
    case "skew":
      return {
        kind,
        actor: anyone(),
        byMs: Math.round((random() - 0.5) * pick([2000, 7_200_000])),
      };
    case "deny":
      return { kind, actor: service(), filter: pick(DENIALS), forMs: upTo(4000) };
    case "slow":
      return { kind, workload, applyMs: pick([0, 1, 50, 700, 4000]) };
    case "unwritable":
      return { kind, workload, forMs: upTo(5000) };
    case "reboot":
      return { kind, workload, downMs: upTo(3000) };
    case "refuse":
    case "old-image":
      return { kind, workload };
    case "tamper":
      return { kind, workload, how: pick(["garble", "misdeliver"]), forMs: upTo(6000) };
    case "backup":
    case "undo-loss":
    case "accept":
    case "nothing":
      return { kind };
  }
}

function someNoise({ pick, random }: Dice): Partial<Faults> {
  const some = (most: number) => (random() < 0.5 ? 0 : random() * most);
  return {
    lose: some(0.3),
    duplicate: some(0.3),
    reorder: some(0.5),
    delay: some(0.5),
    delayMs: pick([5, 100, 1500]),
    noResponders: some(0.2),
    loseAppend: some(0.1),
    loseAck: some(0.2),
    staleRead: some(0.3),
  };
}
