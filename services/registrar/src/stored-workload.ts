import { create, fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { rowProblem } from "@ringwall/endpointmeta";
import {
  type PartitionOwner,
  PartitionOwnerSchema,
  type RefusedRow,
  RefusedRowSchema,
  type RegistryPlace,
  RegistryPlaceSchema,
  type WorkloadRecord,
  WorkloadRecordSchema,
} from "@ringwall/wire";

/** A workload as REGISTRY holds it, with what readers may use of it. */
export interface StoredWorkload {
  /** As stored, unknown enum values included. */
  readonly record: WorkloadRecord;
  /** What readers get: bad rows are left out. The stored record itself if there are none. */
  readonly served: WorkloadRecord;
  /** Rows that are stored but not used. */
  readonly refused: readonly RefusedRow[];
  /** Revision of the value. */
  readonly sequence: number;
  /** Bytes of the value. */
  readonly bytes: number;
}

/** Splits a stored record into what is used and what is refused. */
export function storedWorkload(
  record: WorkloadRecord,
  sequence: number,
  bytes: number,
): StoredWorkload {
  const refused: RefusedRow[] = [];
  for (const row of record.rows) {
    const reason = rowProblem(row);
    if (reason !== "") {
      refused.push(create(RefusedRowSchema, { workload: record.id, row, reason }));
    }
  }
  if (refused.length === 0) {
    return { record, served: record, refused, sequence, bytes };
  }
  const bad = new Set(refused.map((each) => each.row));
  const served = { ...record, rows: record.rows.filter((row) => !bad.has(row)) };
  return { record, served, refused, sequence, bytes };
}

/** Reads a value of REGISTRY; undefined if it is no record of `id`. */
export function readRecord(id: string, payload: Uint8Array): WorkloadRecord | undefined {
  try {
    const record = fromBinary(WorkloadRecordSchema, payload);
    return record.id === id ? record : undefined;
  } catch {
    return undefined;
  }
}

/** An owner key as REGISTRY holds it. */
export interface StoredOwner {
  readonly owner: PartitionOwner;
  readonly place: RegistryPlace;
}

/** Reads the value of an owner key; undefined if it is none. */
export function readOwner(stored: StoredRecord): StoredOwner | undefined {
  try {
    const owner = fromBinary(PartitionOwnerSchema, stored.payload);
    return { owner, place: registryPlace(stored.sequence, stored.timeUnixMs) };
  } catch {
    return undefined;
  }
}

/** A place in REGISTRY, with the server's time in whole milliseconds. */
export function registryPlace(revision: number, timeUnixMs: number): RegistryPlace {
  return create(RegistryPlaceSchema, {
    revision: BigInt(revision),
    timeUnixMs: BigInt(Math.trunc(timeUnixMs)),
  });
}

/** True for the marker of a removal. */
export function isRemoval(stored: StoredRecord): boolean {
  const operation = stored.headers["KV-Operation"];
  return operation === "PURGE" || operation === "DEL" || stored.payload.length === 0;
}
