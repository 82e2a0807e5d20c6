import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import {
  type EpochBegin,
  type Inputs,
  type LogPosition,
  type VersionBatch,
  VersionRecordSchema,
} from "@ringwall/wire";
import { hex, short } from "./hex.ts";
import { isBelow } from "./inputs.ts";
import { Violation } from "./violation.ts";

/** The present version of a workload; an empty digest: removed. */
export interface LogHead {
  readonly version: bigint;
  readonly digest: string;
}

/** One partition's log, folded. */
export interface PartitionFold {
  epoch: bigint;
  readonly heads: Map<string, LogHead>;
  inputs: Inputs | undefined;
  rendered: LogPosition | undefined;
  /** True while further records complete the last one. */
  open: boolean;
}

/** The logs of versions, and everything that they ever named. */
export class VersionOracle {
  readonly #partitions = new Map<string, PartitionFold>();
  readonly #named = new Map<string, Set<string>>();
  /** What each record followed in its log, whichever of the stream's lives it was stored in. */
  readonly #before = new Map<StoredRecord, StoredRecord | undefined>();
  /** The last record of each log. */
  readonly #last = new Map<string, StoredRecord>();
  #lives = 0;
  #renderedLost = false;

  /** Partitions by the subject of their log. */
  get partitions(): ReadonlyMap<string, PartitionFold> {
    return this.#partitions;
  }

  partition(subject: string): PartitionFold {
    let fold = this.#partitions.get(subject);
    if (fold === undefined) {
      fold = { epoch: 0n, heads: new Map(), inputs: undefined, rendered: undefined, open: false };
      this.#partitions.set(subject, fold);
    }
    return fold;
  }

  /** True if the log named this body for this version at any time. */
  named(workload: string, epoch: bigint, version: bigint, digest: string): boolean {
    return this.#named.get(`${workload} ${epoch} ${version}`)?.has(digest) === true;
  }

  /** Takes a record as it is stored. Returns the partition if its inputs moved. */
  take(record: StoredRecord): PartitionFold | undefined {
    this.#before.set(record, this.#last.get(record.subject));
    this.#last.set(record.subject, record);
    const { record: content } = fromBinary(VersionRecordSchema, record.payload);
    const fold = this.partition(record.subject);
    switch (content.case) {
      case "epochBegin":
        this.#begin(fold, content.value, `VERSIONS ${record.sequence}`);
        return undefined;
      case "batch": {
        const counts = this.#batch(fold, content.value, `VERSIONS ${record.sequence}`);
        return counts && !fold.open ? fold : undefined;
      }
      default:
        throw new Violation("I2", `VERSIONS ${record.sequence} says nothing`);
    }
  }

  /**
   * VERSIONS is another one, or went back: these records are there now, in order. Throws RangeError for
   * one that `take` was never given: the same object says that it is the same record.
   */
  regressed(records: Iterable<StoredRecord>): void {
    this.#lives += 1;
    this.#partitions.clear();
    this.#last.clear();
    for (const record of records) {
      if (!this.#before.has(record)) {
        throw new RangeError(`VERSIONS ${record.sequence} was never stored`);
      }
      this.#last.set(record.subject, record);
    }
    for (const last of this.#last.values()) {
      for (const record of this.#upTo(last)) {
        this.#foldAgain(record);
      }
    }
  }

  #foldAgain(record: StoredRecord): void {
    const { record: content } = fromBinary(VersionRecordSchema, record.payload);
    const fold = this.partition(record.subject);
    if (content.case === "epochBegin") {
      this.#begin(fold, content.value, `restored VERSIONS ${record.sequence}`);
    } else if (content.case === "batch" && content.value.epoch === fold.epoch) {
      this.#fold(fold, content.value);
    }
  }

  /**
   * A log from its beginning, with what was trimmed. That is only known by what each record followed
   * when it was stored: the log that was there just before may be another one.
   */
  #upTo(last: StoredRecord): StoredRecord[] {
    const log: StoredRecord[] = [];
    for (let record: StoredRecord | undefined = last; record !== undefined; ) {
      log.push(record);
      record = this.#before.get(record);
    }
    return log.reverse();
  }

  /** RENDERED is another one, or went back: its positions are taken again. */
  renderedRegressed(): void {
    this.#renderedLost = true;
  }

  #begin(fold: PartitionFold, begin: EpochBegin, where: string): void {
    const goesOn = begin.epoch === fold.epoch && fold.open;
    if (begin.epoch <= fold.epoch && !goesOn) {
      throw new Violation("I1", `${where} begins epoch ${begin.epoch} after ${fold.epoch}`);
    }
    if (!goesOn) {
      fold.heads.clear();
    }
    fold.epoch = begin.epoch;
    fold.inputs = begin.inputs;
    fold.rendered = undefined;
    fold.open = begin.more;
    for (const { workload, version, digest } of begin.heads) {
      this.#name(fold, workload, { version, digest: hex(digest) });
    }
  }

  /** True if the batch counts. */
  #batch(fold: PartitionFold, batch: VersionBatch, where: string): boolean {
    if (batch.epoch !== fold.epoch && this.#lives > 0) {
      // A write that is tried again fits by chance where the log has come to the same sequence in
      // another life. No reader lets a batch of another epoch count.
      return false;
    }
    if (batch.epoch !== fold.epoch) {
      throw new Violation("I10", `${where} is of epoch ${batch.epoch}, the log of ${fold.epoch}`);
    }
    for (const { fromDigest, advances } of batch.steps) {
      for (const { workload, fromVersion, toVersion } of advances) {
        const head = fold.heads.get(workload) ?? { version: 0n, digest: "" };
        if (head.version !== fromVersion || head.digest !== hex(fromDigest)) {
          const words = `${where} steps ${workload} from ${fromVersion} ${short(hex(fromDigest))}`;
          throw new Violation("I10", `${words}, its head is ${head.version} ${short(head.digest)}`);
        }
        if (toVersion <= fromVersion) {
          throw new Violation(
            "I1",
            `${where} steps ${workload} from ${fromVersion} to ${toVersion}`,
          );
        }
      }
    }
    this.#checkPosition(fold, batch, where);
    if (fold.inputs !== undefined && isBelow(batch.inputs, fold.inputs)) {
      throw new Violation("I11", `${where} is of inputs below those of the record before it`);
    }
    this.#fold(fold, batch);
    return true;
  }

  #checkPosition(fold: PartitionFold, { rendered }: VersionBatch, where: string): void {
    const last = fold.rendered;
    if (last === undefined || rendered === undefined || fold.open || this.#renderedLost) {
      return;
    }
    const same = rendered.streamCreatedUnixNs === last.streamCreatedUnixNs;
    // A settled claim repeats the position; going back would take a batch twice.
    if (same && rendered.sequence < last.sequence) {
      const words = `${where} takes RENDERED ${rendered.sequence} after ${last.sequence}`;
      throw new Violation("I6", words);
    }
  }

  #fold(fold: PartitionFold, batch: VersionBatch): void {
    for (const { toDigest, advances } of batch.steps) {
      for (const { workload, toVersion } of advances) {
        this.#name(fold, workload, { version: toVersion, digest: hex(toDigest) });
      }
    }
    for (const { workload, version } of batch.tombstones) {
      fold.heads.set(workload, { version, digest: "" });
    }
    fold.epoch = batch.epoch;
    fold.open = batch.more;
    if (!batch.more) {
      fold.inputs = batch.inputs;
      fold.rendered = batch.rendered;
    }
  }

  #name(fold: PartitionFold, workload: string, head: LogHead): void {
    fold.heads.set(workload, head);
    const key = `${workload} ${fold.epoch} ${head.version}`;
    const named = this.#named.get(key) ?? new Set();
    this.#named.set(key, named.add(head.digest));
    if (named.size > 1 && this.#lives === 0) {
      throw new Violation("I2", `the log names ${named.size} bodies for ${key}`);
    }
  }
}
