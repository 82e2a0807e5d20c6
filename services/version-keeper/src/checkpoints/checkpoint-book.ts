import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import {
  type ConfigCheckpoint,
  type Inputs,
  type VersionCheckpoint,
  VersionCheckpointSchema,
} from "@ringwall/wire";
import { toHex } from "../log/hex.ts";
import type { HeadState, PartitionSnapshot, RenderedPosition } from "../versions/partition-log.ts";
import { readConfigCheckpoint } from "./config-checkpoint.ts";
import { areOneCheckpoint, isWhole } from "./version-parts.ts";

/** The two places that are written in turn. */
export type Slot = "a" | "b";

/** A checkpoint of a partition whose parts are all there and whose digest is right. */
export interface WholeCheckpoint {
  readonly slot: Slot;
  readonly epoch: bigint;
  readonly coveredSequence: number;
  readonly streamCreatedUnixNs: bigint;
  readonly registryCreatedUnixNs: bigint;
  readonly inputs: Inputs | undefined;
  readonly rendered: RenderedPosition | undefined;
}

interface Place {
  parts: Map<number, VersionCheckpoint>;
  whole: WholeCheckpoint | undefined;
  /** Heads of the whole one, until the start-up has taken them. */
  heads: readonly VersionCheckpoint[];
}

/** What CHECKPOINTS holds: which checkpoints are whole, and the fences of their subjects. */
export class CheckpointBook {
  readonly #prefix: string;
  readonly #places = new Map<string, Place>();
  readonly #configs = new Map<Slot, ConfigCheckpoint>();
  readonly #sequences = new Map<string, number>();
  readonly #completed: (partition: number) => void;
  #keepsHeads = true;

  /** `completed` hears of every checkpoint of a partition that became whole. */
  constructor(names: Names, completed: (partition: number) => void = () => undefined) {
    this.#completed = completed;
    this.#prefix = names.checkpoint("version", 0, "a", 0).slice(0, -"version.0.a.0".length);
  }

  /** Takes a record of the stream; false if it can't be read. */
  take(record: StoredRecord): boolean {
    this.#sequences.set(record.subject, record.sequence);
    const [kind, partition, slot, index] = record.subject.slice(this.#prefix.length).split(".");
    if (slot !== "a" && slot !== "b") {
      return false;
    }
    if (kind === "config") {
      const checkpoint = readConfigCheckpoint(record.payload);
      if (checkpoint !== undefined) {
        this.#configs.set(slot, checkpoint);
      }
      return checkpoint !== undefined;
    }
    const part = readPart(record.payload);
    if (kind !== "version" || part === undefined) {
      return false;
    }
    this.#takePart(Number(partition), slot, Number(index), part);
    return true;
  }

  /** Last sequence of a subject of CHECKPOINTS: the fence of the next write. */
  sequence(subject: string): number {
    return this.#sequences.get(subject) ?? 0;
  }

  /** Checkpoints of the configuration. */
  get configs(): ReadonlyMap<Slot, ConfigCheckpoint> {
    return this.#configs;
  }

  /** Whole checkpoints of a partition, the one that reaches furthest first. */
  ofPartition(partition: number): readonly WholeCheckpoint[] {
    const found: WholeCheckpoint[] = [];
    for (const slot of ["a", "b"] as const) {
      const whole = this.#places.get(placeName(partition, slot))?.whole;
      if (whole !== undefined) {
        found.push(whole);
      }
    }
    return found.sort((x, y) =>
      x.epoch === y.epoch ? y.coveredSequence - x.coveredSequence : x.epoch < y.epoch ? 1 : -1,
    );
  }

  /** What a partition starts from; undefined without a whole checkpoint or after `dropHeads`. */
  snapshot(partition: number): PartitionSnapshot | undefined {
    const newest = this.ofPartition(partition)[0];
    if (newest === undefined || !this.#keepsHeads) {
      return undefined;
    }
    const parts = this.#places.get(placeName(partition, newest.slot))?.heads ?? [];
    return { ...newest, heads: headsOf(parts) };
  }

  /** Begins a start-up anew: the heads of what is read from now on are kept. */
  keepHeads(): void {
    this.#keepsHeads = true;
  }

  /** Ends the start-up: heads are no longer kept. */
  dropHeads(): void {
    this.#keepsHeads = false;
    for (const place of this.#places.values()) {
      place.heads = [];
    }
  }

  /** Forgets everything: the stream is another one. */
  clear(): void {
    this.#places.clear();
    this.#configs.clear();
    this.#sequences.clear();
  }

  #takePart(partition: number, slot: Slot, index: number, part: VersionCheckpoint): void {
    const name = placeName(partition, slot);
    const place: Place = this.#places.get(name) ?? {
      parts: new Map(),
      whole: undefined,
      heads: [],
    };
    this.#places.set(name, place);
    const [other] = place.parts.values();
    if (other !== undefined && !areOneCheckpoint(other, part)) {
      place.parts = new Map();
    }
    place.parts.set(index, part);
    if (place.parts.size < part.count) {
      return;
    }
    const parts = [...place.parts].sort(([a], [b]) => a - b).map(([, one]) => one);
    place.parts = new Map();
    if (isWhole(parts)) {
      place.whole = wholeOf(slot, part);
      place.heads = this.#keepsHeads ? parts : [];
      this.#completed(partition);
    }
  }
}

function placeName(partition: number, slot: Slot): string {
  return `${partition}.${slot}`;
}

function readPart(payload: Uint8Array): VersionCheckpoint | undefined {
  try {
    return fromBinary(VersionCheckpointSchema, payload);
  } catch {
    return undefined;
  }
}

function wholeOf(slot: Slot, part: VersionCheckpoint): WholeCheckpoint {
  const { rendered } = part;
  return {
    slot,
    epoch: part.epoch,
    coveredSequence: Number(part.coveredSequence),
    streamCreatedUnixNs: part.streamCreatedUnixNs,
    registryCreatedUnixNs: part.registryCreatedUnixNs,
    inputs: part.inputs,
    rendered:
      rendered === undefined
        ? undefined
        : {
            streamCreatedUnixNs: rendered.streamCreatedUnixNs,
            sequence: Number(rendered.sequence),
          },
  };
}

function* headsOf(parts: readonly VersionCheckpoint[]): Generator<readonly [string, HeadState]> {
  const bodies = new Map<string, string>();
  for (const part of parts) {
    for (const { workload, version, digest } of part.heads) {
      const hex = toHex(digest);
      const body = bodies.get(hex) ?? hex;
      bodies.set(body, body);
      yield [workload, { version: Number(version), digest: body }];
    }
  }
}
