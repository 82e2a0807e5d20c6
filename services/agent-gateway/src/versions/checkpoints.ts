import { createHash } from "node:crypto";
import { clone, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import {
  type ConfigCheckpoint,
  ConfigCheckpointSchema,
  type VersionCheckpoint,
  VersionCheckpointSchema,
} from "@ringwall/wire";
import { toHex } from "../wire/hex.ts";
import type { PartitionStart } from "./partition.ts";

/** A whole checkpoint of one partition. */
export interface WholeCheckpoint extends PartitionStart {
  readonly partition: number;
  readonly streamCreatedNs: bigint;
  readonly registryCreatedNs: bigint;
}

/** Collects the parts of checkpoints and gives those that are whole. */
export class Checkpoints {
  readonly #prefix: string;
  readonly #parts = new Map<string, VersionCheckpoint[]>();
  #config: ConfigCheckpoint | undefined;

  /** `prefix` is the part of their subjects before `<kind>.<partition>.<slot>.<index>`. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The newest checkpoint of CONFIG. */
  get config(): ConfigCheckpoint | undefined {
    return this.#config;
  }

  /** Takes a record; one that can't be read is as good as absent. */
  take(record: StoredRecord): void {
    const [kind, partition, slot, index] = record.subject.slice(this.#prefix.length).split(".");
    try {
      if (kind === "config") {
        const checkpoint = fromBinary(ConfigCheckpointSchema, record.payload);
        const newer = checkpoint.coveredSequence >= (this.#config?.coveredSequence ?? 0n);
        this.#config = newer ? checkpoint : this.#config;
      } else if (kind === "version") {
        const key = `${partition}.${slot}`;
        const parts = this.#parts.get(key) ?? [];
        parts[Number(index)] = fromBinary(VersionCheckpointSchema, record.payload);
        this.#parts.set(key, parts);
      }
    } catch {
      this.#parts.delete(`${partition}.${slot}`);
    }
  }

  /** The newest whole checkpoint of each partition that has one. */
  whole(): readonly WholeCheckpoint[] {
    const newest = new Map<number, WholeCheckpoint>();
    for (const [key, stored] of this.#parts) {
      const partition = Number(key.split(".")[0]);
      const checkpoint = readParts(partition, stored);
      const known = newest.get(partition);
      if (checkpoint !== undefined && (known === undefined || isNewer(checkpoint, known))) {
        newest.set(partition, checkpoint);
      }
    }
    return [...newest.values()];
  }

  /** Forgets what was read. */
  clear(): void {
    this.#parts.clear();
    this.#config = undefined;
  }
}

function isNewer(a: WholeCheckpoint, b: WholeCheckpoint): boolean {
  return a.epoch === b.epoch ? a.coveredSequence > b.coveredSequence : a.epoch > b.epoch;
}

/** The total digest is SHA-256 over the bytes of all parts, the last one's taken without it. */
function readParts(
  partition: number,
  stored: readonly (VersionCheckpoint | undefined)[],
): WholeCheckpoint | undefined {
  const first = stored[0];
  const parts = stored.slice(0, first?.count ?? 0).filter((part) => part !== undefined);
  const last = parts.at(-1);
  if (first === undefined || last === undefined || parts.length !== first.count) {
    return undefined;
  }
  const hash = createHash("sha256");
  for (const part of parts) {
    if (part.epoch !== first.epoch || part.coveredSequence !== first.coveredSequence) {
      return undefined;
    }
    const bare = part === last ? clone(VersionCheckpointSchema, part) : part;
    if (part === last) {
      bare.totalDigest = new Uint8Array();
    }
    hash.update(toBinary(VersionCheckpointSchema, bare));
  }
  if (hash.digest("hex") !== toHex(last.totalDigest)) {
    return undefined;
  }
  return {
    partition,
    epoch: first.epoch,
    coveredSequence: Number(first.coveredSequence),
    streamCreatedNs: first.streamCreatedUnixNs,
    registryCreatedNs: first.registryCreatedUnixNs,
    inputs: first.inputs,
    heads: parts.flatMap((part) =>
      part.heads.map(
        ({ workload, version, digest }) =>
          [workload, { version: Number(version), digest: toHex(digest) }] as const,
      ),
    ),
  };
}
