import { slice, type Task } from "@ringwall/actor";
import type { RenderBatch } from "@ringwall/wire";
import { toHex } from "../log/hex.ts";
import type { WholeBatch } from "./batch-parts.ts";
import type { HeadState, PartitionLog } from "./partition-log.ts";

/** Workloads looked at in one step: about 2 ms of work. */
const WORKLOADS_PER_STEP = 5_000;

/** One workload's advance from one body to another. */
export interface Advance {
  readonly workload: string;
  /** Empty for a first version and after a removal. */
  readonly fromDigest: string;
  readonly toDigest: string;
  readonly fromVersion: number;
  readonly toVersion: number;
}

/** What a batch does to the versions of its partition. */
export interface Advances {
  readonly advances: readonly Advance[];
  readonly tombstones: readonly { readonly workload: string; readonly version: number }[];
  readonly refused: readonly { readonly workload: string; readonly reason: string }[];
  /** No longer refused, and without an advance. */
  readonly accepted: readonly string[];
  /** Names that have no place in this batch: malformed ids or another partition's. */
  readonly strangers: number;
}

/**
 * Works out who advances. The same body keeps its version; another one is the next version; the
 * first is version 1, even of an empty body; a removed workload that returns goes on counting.
 * `belongs` says whether a workload may be named in this partition.
 */
export function* advancesOf(
  batch: WholeBatch,
  log: PartitionLog,
  belongs: (workload: string) => boolean,
): Task<Advances> {
  const named = yield* collect(batch.parts, belongs);
  const advances: Advance[] = [];
  const accepted: string[] = [];
  let looked = 0;
  for (const [workload, digest] of named.set) {
    looked += 1;
    if (looked % WORKLOADS_PER_STEP === 0) {
      yield* slice();
    }
    const advance = advanceOf(workload, log.heads.get(workload), digest);
    if (advance !== undefined) {
      advances.push(advance);
    } else if (log.refused.has(workload)) {
      accepted.push(workload);
    }
  }
  const gone = batch.full ? yield* unnamed(log, named) : named.removed;
  const tombstones: { workload: string; version: number }[] = [];
  for (const workload of gone) {
    const head = log.heads.get(workload);
    if (head !== undefined && head.digest !== "") {
      tombstones.push({ workload, version: head.version });
    } else if (log.refused.has(workload)) {
      accepted.push(workload);
    }
  }
  const refused = [...named.refused]
    .filter(([workload, reason]) => log.refused.get(workload) !== reason)
    .map(([workload, reason]) => ({ workload, reason }));
  return { advances, tombstones, refused, accepted, strangers: named.strangers };
}

interface Named {
  readonly set: Map<string, string>;
  readonly removed: Set<string>;
  readonly refused: Map<string, string>;
  strangers: number;
}

function* collect(
  parts: readonly RenderBatch[],
  belongs: (workload: string) => boolean,
): Task<Named> {
  const named: Named = { set: new Map(), removed: new Set(), refused: new Map(), strangers: 0 };
  let looked = 0;
  for (const part of parts) {
    for (const { digest, workloads } of part.set) {
      const body = toHex(digest);
      for (const workload of workloads) {
        looked += 1;
        if (looked % WORKLOADS_PER_STEP === 0) {
          yield* slice();
        }
        if (digest.length === 32 && belongs(workload)) {
          named.set.set(workload, body);
        } else {
          named.strangers += 1;
        }
      }
    }
    for (const workload of part.removed) {
      named.removed.add(workload);
    }
    for (const { workload, reason } of part.refused) {
      if (belongs(workload)) {
        named.refused.set(workload, reason);
      } else {
        named.strangers += 1;
      }
    }
  }
  return named;
}

function* unnamed(log: PartitionLog, named: Named): Task<string[]> {
  const gone: string[] = [];
  let looked = 0;
  for (const workload of new Set([...log.heads.keys(), ...log.refused.keys()])) {
    looked += 1;
    if (looked % WORKLOADS_PER_STEP === 0) {
      yield* slice();
    }
    if (!named.set.has(workload) && !named.refused.has(workload)) {
      gone.push(workload);
    }
  }
  return gone;
}

function advanceOf(
  workload: string,
  head: HeadState | undefined,
  toDigest: string,
): Advance | undefined {
  const fromVersion = head?.version ?? 0;
  const fromDigest = head?.digest ?? "";
  return fromDigest === toDigest
    ? undefined
    : { workload, fromDigest, toDigest, fromVersion, toVersion: fromVersion + 1 };
}
