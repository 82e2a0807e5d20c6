import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { type Names, PARTITIONS } from "@ringwall/bus";
import { VersionRecordSchema } from "@ringwall/wire";
import { PartitionLog } from "./partition-log.ts";

/** What taking a record did. */
export type Taken =
  | { readonly kind: "counted"; readonly partition: number }
  | { readonly kind: "ignored"; readonly partition: number }
  | { readonly kind: "malformed" };

/** Fold of all of VERSIONS: every instance has every partition. */
export class VersionLog {
  readonly partitions: readonly PartitionLog[];
  readonly #prefix: string;

  /** `trimAfterMs` is the age from which records may be trimmed. */
  constructor(names: Names, trimAfterMs: number) {
    this.#prefix = names.version(0).slice(0, -1);
    this.partitions = Array.from({ length: PARTITIONS }, () => new PartitionLog(trimAfterMs));
  }

  /** The partition; throws RangeError when there is none of this number. */
  partition(partition: number): PartitionLog {
    const found = this.partitions[partition];
    if (found === undefined) {
      throw new RangeError(`partition ${partition} is not one of 0 to ${PARTITIONS - 1}`);
    }
    return found;
  }

  /** Takes a record that the reader delivered or that this instance appended; repeats are fine. */
  take(record: StoredRecord): Taken {
    const partition = Number(record.subject.slice(this.#prefix.length));
    const log = this.partitions[partition];
    const read = readRecord(record.payload);
    if (log === undefined || read === undefined) {
      return { kind: "malformed" };
    }
    const counted = log.take(read, record.sequence, record.timeUnixMs);
    return { kind: counted ? "counted" : "ignored", partition };
  }
}

function readRecord(payload: Uint8Array) {
  try {
    return fromBinary(VersionRecordSchema, payload).record;
  } catch {
    return undefined;
  }
}
