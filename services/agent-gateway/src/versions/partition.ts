import { toBinary } from "@bufbuild/protobuf";
import {
  type EpochBegin,
  type Inputs,
  InputsSchema,
  type VersionBatch,
  type VersionRecord,
} from "@ringwall/wire";
import { toHex } from "../wire/hex.ts";

/** The present version of one workload. */
export interface Head {
  readonly version: number;
  /** Body as hex digits; empty for a removed workload. */
  readonly digest: string;
}

/** One workload's advance, as a record of the log tells it. */
export interface Advance {
  readonly workload: string;
  readonly fromVersion: number;
  readonly toVersion: number;
  readonly fromDigest: string;
  readonly toDigest: string;
}

/** What a record changed. */
export interface Change {
  readonly advances: readonly Advance[];
  /** Workloads whose delivery state may be another one without an advance. */
  readonly touched: readonly string[];
  /** True if every workload of the partition is concerned. */
  readonly all: boolean;
}

/** What a partition begins with. */
export interface PartitionStart {
  readonly epoch: bigint;
  readonly coveredSequence: number;
  readonly inputs: Inputs | undefined;
  readonly heads: Iterable<readonly [string, Head]>;
}

const NONE: Change = { advances: [], touched: [], all: false };
const NO_BYTES = new Uint8Array();

/** Fold of one partition of VERSIONS, as far as delivery needs it. */
export class Partition {
  readonly heads = new Map<string, Head>();
  /** Why the renderer refused a workload's newest body. */
  readonly refused = new Map<string, string>();
  #epoch = 0n;
  #openEpoch = false;
  #inputs: Inputs | undefined;
  #reached: Inputs | undefined;
  #inputsBytes: Uint8Array = NO_BYTES;
  #lastSequence = 0;
  #foreign = "";
  #unread = 0n;

  /** Epoch; 0 before the first record. */
  get epoch(): bigint {
    return this.#epoch;
  }

  /** Inputs that the last record names. */
  get inputs(): Inputs | undefined {
    return this.#inputs;
  }

  /** Those inputs as bytes, encoded once. */
  get inputsBytes(): Uint8Array {
    return this.#inputsBytes;
  }

  /** Inputs of the last batch that is complete. */
  get reached(): Inputs | undefined {
    return this.#reached;
  }

  /** Sequence of the last record that was seen or is covered by a checkpoint. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** Highest epoch of a record whose beginning was not read; 0 if there is none. */
  get unreadEpoch(): bigint {
    return this.#unread > this.#epoch ? this.#unread : 0n;
  }

  /** Why its heads can't be pushed; empty if they can. */
  get blocked(): string {
    return this.#openEpoch ? "an epoch is being begun" : this.#foreign;
  }

  /** Begins with a checkpoint. */
  restore(start: PartitionStart): void {
    this.#epoch = start.epoch;
    this.#lastSequence = start.coveredSequence;
    this.#setInputs(start.inputs);
    this.#reached = start.inputs;
    this.heads.clear();
    for (const [workload, head] of start.heads) {
      this.heads.set(workload, head);
    }
  }

  /** The log went back or is another one: forgets all that was read of it. */
  reset(): void {
    this.heads.clear();
    this.refused.clear();
    this.#epoch = 0n;
    this.#openEpoch = false;
    this.#setInputs(undefined);
    this.#reached = undefined;
    this.#lastSequence = 0;
    this.#foreign = "";
    this.#unread = 0n;
  }

  /** Lets every record of the log count, those too that a checkpoint covers. */
  rewind(): void {
    this.#lastSequence = 0;
  }

  /** The log is not the one that the checkpoints cover: nothing counts until a higher epoch begins. */
  isForeign(): void {
    this.#foreign = "VERSIONS is not the log that its checkpoints cover";
    this.#lastSequence = 0;
  }

  /** Takes a record of the log. */
  take(record: VersionRecord["record"], sequence: number): Change {
    if (sequence <= this.#lastSequence) {
      return NONE;
    }
    this.#lastSequence = sequence;
    switch (record.case) {
      case "batch":
        return this.#takeBatch(record.value);
      case "epochBegin":
        return this.#takeEpoch(record.value);
      default:
        return NONE;
    }
  }

  #takeBatch(batch: VersionBatch): Change {
    if (batch.epoch > this.#unread) {
      this.#unread = batch.epoch;
    }
    if (batch.epoch !== this.#epoch || this.#foreign !== "") {
      return NONE;
    }
    const advances: Advance[] = [];
    for (const step of batch.steps) {
      const fromDigest = toHex(step.fromDigest);
      const toDigest = toHex(step.toDigest);
      for (const { workload, fromVersion, toVersion } of step.advances) {
        const version = Number(toVersion);
        this.heads.set(workload, { version, digest: toDigest });
        this.refused.delete(workload);
        const from = Number(fromVersion);
        advances.push({ workload, fromVersion: from, toVersion: version, fromDigest, toDigest });
      }
    }
    const touched: string[] = [];
    for (const { workload, version } of batch.tombstones) {
      this.heads.set(workload, { version: Number(version), digest: "" });
      this.refused.delete(workload);
      touched.push(workload);
    }
    for (const { workload, reason } of batch.refused) {
      this.refused.set(workload, reason);
      touched.push(workload);
    }
    for (const workload of batch.accepted) {
      this.refused.delete(workload);
      touched.push(workload);
    }
    this.#setInputs(batch.inputs);
    this.#reached = batch.more ? this.#reached : batch.inputs;
    return { advances, touched, all: false };
  }

  #takeEpoch(begin: EpochBegin): Change {
    const continues = begin.epoch === this.#epoch && this.#openEpoch;
    if (!continues && begin.epoch <= this.#epoch) {
      return NONE;
    }
    if (!continues) {
      this.heads.clear();
      this.refused.clear();
      this.#epoch = begin.epoch;
    }
    for (const { workload, version, digest } of begin.heads) {
      this.heads.set(workload, { version: Number(version), digest: toHex(digest) });
    }
    this.#setInputs(begin.inputs);
    this.#reached = begin.inputs;
    this.#openEpoch = begin.more;
    this.#foreign = "";
    return { advances: [], touched: [], all: true };
  }

  #setInputs(inputs: Inputs | undefined): void {
    this.#inputs = inputs;
    this.#inputsBytes = inputs === undefined ? NO_BYTES : toBinary(InputsSchema, inputs);
  }
}
