import type { EpochBegin, Inputs, VersionBatch, VersionRecord } from "@ringwall/wire";
import { toHex } from "../log/hex.ts";
import { HistoryIndex } from "./history-index.ts";
import { TrimMarks } from "./trim-marks.ts";

/** The present version of one workload. */
export interface HeadState {
  readonly version: number;
  /** Body as hex digits; empty for a removed workload, whose counter is kept for ever. */
  readonly digest: string;
}

/** Where the last accepted RenderBatch stands in RENDERED. */
export interface RenderedPosition {
  readonly streamCreatedUnixNs: bigint;
  readonly sequence: number;
}

/** What a checkpoint holds of one partition. */
export interface PartitionSnapshot {
  readonly epoch: bigint;
  readonly coveredSequence: number;
  readonly inputs: Inputs | undefined;
  readonly rendered: RenderedPosition | undefined;
  readonly heads: Iterable<readonly [string, HeadState]>;
}

/**
 * Fold of one partition of VERSIONS. A record counts if it continues the present epoch at a higher
 * sequence, or begins a higher one; what lies below a checkpoint only feeds the history.
 */
export class PartitionLog {
  readonly heads = new Map<string, HeadState>();
  readonly refused = new Map<string, string>();
  readonly history = new HistoryIndex();
  readonly marks: TrimMarks;
  #epoch = 0n;
  #openEpoch = false;
  #inputs: Inputs | undefined;
  #rendered: RenderedPosition | undefined;
  #lastSequence = 0;
  #suspicion: string | undefined;
  #records = 0;
  #seen = 0;

  /** `trimAfterMs` is the age from which records may be trimmed. */
  constructor(trimAfterMs: number) {
    this.marks = new TrimMarks(trimAfterMs);
  }

  /** Epoch of the partition; 0 before its first record. */
  get epoch(): bigint {
    return this.#epoch;
  }

  /** True while an EpochBegin of several parts lacks its last one. */
  get isEpochOpen(): boolean {
    return this.#openEpoch;
  }

  /** Inputs of the last batch. */
  get inputs(): Inputs | undefined {
    return this.#inputs;
  }

  /** Position of the last batch; unset when only a full one can follow. */
  get rendered(): RenderedPosition | undefined {
    return this.#rendered;
  }

  /** Sequence of the last record that counted. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** Highest sequence that was seen, whether it counted or not. */
  get seen(): number {
    return this.#seen;
  }

  /** Records that counted so far in this life. */
  get records(): number {
    return this.#records;
  }

  /** Why the log is not the one that this state came from; a higher epoch settles it. */
  get suspicion(): string | undefined {
    return this.#suspicion;
  }

  /** Notes that the stream is another one or has gone back. */
  suspect(reason: string): void {
    this.#suspicion ??= reason;
  }

  /** Forgets where records stand, because sequences begin anew; heads and counters stay. */
  forgetPlaces(): void {
    this.history.clear();
    this.marks.clear();
    this.#seen = 0;
  }

  /** Starts from a checkpoint. */
  restore(snapshot: PartitionSnapshot): void {
    this.#epoch = snapshot.epoch;
    this.#lastSequence = snapshot.coveredSequence;
    this.#inputs = snapshot.inputs;
    this.#rendered = snapshot.rendered;
    this.heads.clear();
    for (const [workload, head] of snapshot.heads) {
      this.heads.set(workload, head);
    }
  }

  /** Takes a record of the log; false if it did not count. */
  take(record: VersionRecord["record"], sequence: number, timeUnixMs: number): boolean {
    this.marks.add(sequence, timeUnixMs);
    this.#seen = Math.max(this.#seen, sequence);
    switch (record.case) {
      case "batch":
        return this.#takeBatch(record.value, sequence);
      case "epochBegin":
        return this.#takeEpoch(record.value, sequence);
      case undefined:
        return false;
    }
  }

  #takeBatch(batch: VersionBatch, sequence: number): boolean {
    const counts = batch.epoch === this.#epoch && sequence > this.#lastSequence;
    if (!counts && batch.epoch > this.#epoch) {
      return false;
    }
    for (const step of batch.steps) {
      const digest = counts ? toHex(step.toDigest) : "";
      for (const { workload, toVersion } of step.advances) {
        this.history.add(workload, sequence);
        if (counts) {
          this.heads.set(workload, { version: Number(toVersion), digest });
          this.refused.delete(workload);
        }
      }
    }
    for (const { workload, version } of batch.tombstones) {
      this.history.add(workload, sequence);
      if (counts) {
        this.heads.set(workload, { version: Number(version), digest: "" });
        this.refused.delete(workload);
      }
    }
    if (counts) {
      this.#count(batch, sequence);
    }
    return counts;
  }

  #count(batch: VersionBatch, sequence: number): void {
    for (const { workload, reason } of batch.refused) {
      this.refused.set(workload, reason);
    }
    for (const workload of batch.accepted) {
      this.refused.delete(workload);
    }
    this.#inputs = batch.inputs;
    this.#rendered = positionOf(batch);
    this.#advance(sequence);
  }

  #takeEpoch(begin: EpochBegin, sequence: number): boolean {
    const continues = begin.epoch === this.#epoch && this.#openEpoch;
    if (!continues && begin.epoch <= this.#epoch) {
      return false;
    }
    if (!continues) {
      this.heads.clear();
      this.refused.clear();
      this.#epoch = begin.epoch;
      this.#rendered = undefined;
      this.#suspicion = undefined;
    }
    for (const { workload, version, digest } of begin.heads) {
      this.heads.set(workload, { version: Number(version), digest: toHex(digest) });
    }
    this.#inputs = begin.inputs;
    this.#openEpoch = begin.more;
    this.#advance(sequence);
    return true;
  }

  #advance(sequence: number): void {
    this.#lastSequence = sequence;
    this.#records += 1;
  }
}

function positionOf(batch: VersionBatch): RenderedPosition | undefined {
  const { rendered } = batch;
  return rendered === undefined
    ? undefined
    : {
        streamCreatedUnixNs: rendered.streamCreatedUnixNs,
        sequence: Number(rendered.sequence),
      };
}
