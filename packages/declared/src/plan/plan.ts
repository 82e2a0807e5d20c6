import { keepsLayers, type Profile } from "../profile/profile.ts";
import type { Content } from "../tree/content.ts";
import { sortPaths } from "../tree/path.ts";
import { EMPTY_TREE, type Layer, type LiveTrees, type Tree } from "../tree/tree.ts";
import { type Unit, unitsOf } from "../tree/units.ts";
import type { Ledger } from "./ledger.ts";
import { planDigest } from "./plan-digest.ts";

/**
 * What applying would do to a unit.
 * - `added`, `changed`: it writes it; `same`: nothing
 * - `removed`: not declared any more, and its files are in the ledger
 * - `unmanaged`: live, not declared, not in the ledger: never touched
 */
export type PlanStatus = "added" | "changed" | "same" | "removed" | "unmanaged";

/** A file on both sides. */
export interface PlannedFile {
  /** As the ledger names it: `<layer>/` before the path where layers are kept. */
  readonly path: string;
  /** Effective live copy. */
  readonly live?: Content;
  readonly desired?: Content;
}

/** A unit of the plan. */
export interface PlanEntry {
  /** Unit key, `<layer>/` before it where layers are kept. */
  readonly key: string;
  readonly status: PlanStatus;
  /** Layers that hold the unit. With `same`, core alone means inherited, not owned. */
  readonly liveIn: readonly Layer[];
  /** It is removed, or loses a member. */
  readonly destructive: boolean;
  /** In byte order of the paths. */
  readonly files: readonly PlannedFile[];
}

/** A file that someone changed on the live side since the base. */
export interface Drift {
  readonly path: string;
  /** Key of its entry. */
  readonly key: string;
  /** Applying would replace or delete it. */
  readonly overwritten: boolean;
}

/** A file to write; digests and sizes only until it is asked for its content. */
export interface PlannedPut {
  readonly layer: Layer;
  readonly path: string;
  readonly content: Content;
}

/** What applying would do. */
export interface Plan {
  /** In byte order of the keys. */
  readonly entries: readonly PlanEntry[];
  /** True if something would be written or deleted; unmanaged units do not count. */
  readonly hasChanges: boolean;
  readonly destructive: boolean;
  readonly puts: readonly PlannedPut[];
  /** Files to delete, as the ledger names them, in byte order. */
  readonly deletes: readonly string[];
  /** In byte order of the paths; empty without a base. No part of the digest. */
  readonly drift: readonly Drift[];
  /** Files that the ledger names after applying, in byte order. */
  readonly owned: readonly string[];
  readonly planSha256: string;
}

/** Both sides, and what is known about the past. */
export interface PlanInput {
  readonly profile: Profile;
  /** Where layers are kept, base and overlay; else everything in `environment`. */
  readonly desired: LiveTrees;
  /** The live files in scope. */
  readonly live: LiveTrees;
  readonly ledger?: Pick<Ledger, "files">;
  /** Digest of every file at an earlier moment, named as in the ledger. */
  readonly base?: ReadonlyMap<string, string>;
}

/** One comparison: what is declared against what is live and owned, over what is inherited. */
interface Side {
  readonly prefix: string;
  readonly layer: Layer;
  readonly desired: Tree;
  readonly owned: Tree;
  readonly inherited: Tree;
}

/** Compares what is declared with what is live. Status, difference and writing come from here. */
export function plan(input: PlanInput): Plan {
  const inLedger = new Set(input.ledger?.files ?? []);
  const entries: PlanEntry[] = [];
  const puts: PlannedPut[] = [];
  const deletes: string[] = [];
  const owned: string[] = [];
  for (const side of sidesOf(input)) {
    const units = {
      desired: unitsOf(side.desired),
      owned: unitsOf(side.owned),
      inherited: unitsOf(side.inherited),
    };
    const keys = [...units.desired.keys(), ...units.owned.keys(), ...units.inherited.keys()];
    for (const key of sortPaths([...new Set(keys)])) {
      const found = {
        desired: units.desired.get(key),
        owned: units.owned.get(key),
        inherited: units.inherited.get(key),
      };
      const gone = deletesOf(found.owned, side, inLedger);
      const entry = entryOf(key, found, side, gone);
      entries.push(entry);
      for (const path of gone) deletes.push(path);
      collectWrites(entry, found, side, puts, owned);
    }
  }
  const hasChanges = entries.some(
    ({ status }) => status === "added" || status === "changed" || status === "removed",
  );
  const sortedDeletes = sortPaths(deletes);
  return {
    entries,
    hasChanges,
    destructive: entries.some((entry) => entry.destructive),
    puts,
    deletes: sortedDeletes,
    drift: input.base === undefined ? [] : driftOf(entries, input.base, new Set(deletes)),
    owned: sortPaths(owned),
    planSha256: planDigest(entries, sortedDeletes),
  };
}

function sidesOf({ profile, desired, live }: PlanInput): Side[] {
  if (!keepsLayers(profile)) {
    return [
      {
        prefix: "",
        layer: "environment",
        desired: desired.environment,
        owned: live.environment,
        inherited: live.core,
      },
    ];
  }
  return (["core", "environment"] as const).map((layer) => ({
    prefix: `${layer}/`,
    layer,
    desired: desired[layer],
    owned: live[layer],
    inherited: EMPTY_TREE,
  }));
}

interface UnitSides {
  readonly desired: Unit | undefined;
  readonly owned: Unit | undefined;
  readonly inherited: Unit | undefined;
}

function entryOf(key: string, found: UnitSides, side: Side, gone: readonly string[]): PlanEntry {
  const { desired, owned, inherited } = found;
  const files = filesOf((owned ?? inherited)?.files, desired?.files, side.prefix);
  const liveIn: Layer[] = [];
  if (inherited !== undefined) liveIn.push("core");
  if (owned !== undefined) liveIn.push(side.layer);
  const status = statusOf(found, files, gone);
  return {
    key: `${side.prefix}${key}`,
    status,
    liveIn,
    destructive: gone.length > 0,
    files,
  };
}

function statusOf(
  { desired, owned, inherited }: UnitSides,
  files: readonly PlannedFile[],
  gone: readonly string[],
): PlanStatus {
  if (desired === undefined) return gone.length > 0 ? "removed" : "unmanaged";
  if (owned === undefined && inherited === undefined) return "added";
  return files.every(isSame) ? "same" : "changed";
}

/** True if a file is on both sides with the same bytes. */
export function isSame({ live, desired }: PlannedFile): boolean {
  return live !== undefined && desired !== undefined && live.equals(desired);
}

const NO_FILES: ReadonlyMap<string, Content> = new Map();

function filesOf(
  live: ReadonlyMap<string, Content> = NO_FILES,
  desired: ReadonlyMap<string, Content> = NO_FILES,
  prefix: string,
): PlannedFile[] {
  const paths = new Set([...live.keys(), ...desired.keys()]);
  return sortPaths([...paths]).map((path) => {
    const held = live.get(path);
    const wanted = desired.get(path);
    return {
      path: `${prefix}${path}`,
      ...(held === undefined ? {} : { live: held }),
      ...(wanted === undefined ? {} : { desired: wanted }),
    };
  });
}

/** Files of an owned unit that are in the ledger and not declared any more. */
function deletesOf(owned: Unit | undefined, side: Side, inLedger: ReadonlySet<string>): string[] {
  if (owned === undefined || inLedger.size === 0) return [];
  return [...owned.files.keys()]
    .filter((path) => inLedger.has(`${side.prefix}${path}`) && !side.desired.has(path))
    .map((path) => `${side.prefix}${path}`);
}

/** A unit that is written is written whole: a copy in the owned layer hides the inherited one. */
function collectWrites(
  { status, liveIn }: PlanEntry,
  { desired }: UnitSides,
  side: Side,
  puts: PlannedPut[],
  owned: string[],
): void {
  if (desired === undefined) return;
  const inherited = status === "same" && !liveIn.includes(side.layer);
  if (inherited) return;
  for (const [path, content] of desired.files) {
    owned.push(`${side.prefix}${path}`);
    const held = side.owned.get(path);
    if (held === undefined || !held.equals(content))
      puts.push({ layer: side.layer, path, content });
  }
}

function driftOf(
  entries: readonly PlanEntry[],
  base: ReadonlyMap<string, string>,
  deletes: ReadonlySet<string>,
): Drift[] {
  const drift = new Map<string, Drift>();
  for (const { key, status, files } of entries) {
    for (const { path, live, desired } of files) {
      const before = base.get(path);
      if (live?.sha256 === before || live?.sha256 === desired?.sha256) continue;
      const overwritten =
        deletes.has(path) ||
        (status === "changed" && desired !== undefined) ||
        (status === "added" && desired !== undefined);
      drift.set(path, { path, key, overwritten });
    }
  }
  return sortPaths([...drift.keys()]).flatMap((path) => drift.get(path) ?? []);
}
