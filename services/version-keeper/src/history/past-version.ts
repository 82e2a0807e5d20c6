import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { type Inputs, VersionRecordSchema } from "@ringwall/wire";
import { toHex } from "../log/hex.ts";

/** One version of one workload as the log has it. Digests are hex digits. */
export interface PastVersion {
  readonly epoch: bigint;
  readonly fromVersion: number;
  readonly version: number;
  /** Empty for a first version and after a removal. */
  readonly fromDigest: string;
  /** Empty for a removal. */
  readonly digest: string;
  readonly inputs: Inputs | undefined;
  readonly timeUnixMs: bigint;
}

/** What a record of VERSIONS did to a workload; undefined if it is not named there. */
export function pastVersion(record: StoredRecord, workload: string): PastVersion | undefined {
  const batch = readBatch(record.payload);
  if (batch === undefined) {
    return undefined;
  }
  const { epoch, inputs, timeUnixMs } = batch;
  for (const { fromDigest, toDigest, advances } of batch.steps) {
    const advance = advances.find((one) => one.workload === workload);
    if (advance !== undefined) {
      return {
        epoch,
        fromVersion: Number(advance.fromVersion),
        version: Number(advance.toVersion),
        fromDigest: toHex(fromDigest),
        digest: toHex(toDigest),
        inputs,
        timeUnixMs,
      };
    }
  }
  const gone = batch.tombstones.find((one) => one.workload === workload);
  if (gone === undefined) {
    return undefined;
  }
  const version = Number(gone.version);
  return { epoch, fromVersion: version, version, fromDigest: "", digest: "", inputs, timeUnixMs };
}

function readBatch(payload: Uint8Array) {
  try {
    const { record } = fromBinary(VersionRecordSchema, payload);
    return record.case === "batch" ? record.value : undefined;
  } catch {
    return undefined;
  }
}
