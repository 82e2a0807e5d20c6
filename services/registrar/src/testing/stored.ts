import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { type Names, partitionOf, purgeHeaders } from "@ringwall/bus";
import { Presence, WorkloadRecordSchema, WorkloadSource } from "@ringwall/wire";

/** A record of REGISTRY that holds a workload. */
export function storedRecord(
  names: Names,
  sequence: number,
  record: MessageInitShape<typeof WorkloadRecordSchema> & { id: string },
): StoredRecord {
  const value = create(WorkloadRecordSchema, {
    source: WorkloadSource.AGENT,
    presence: Presence.LIVE,
    ...record,
  });
  return {
    subject: names.registryWorkload(partitionOf(record.id), record.id),
    sequence,
    payload: toBinary(WorkloadRecordSchema, value),
    headers: {},
    timeUnixMs: 1_000_000 + sequence,
  };
}

/** A record of REGISTRY that removes a workload. */
export function storedRemoval(names: Names, sequence: number, id: string): StoredRecord {
  return {
    subject: names.registryWorkload(partitionOf(id), id),
    sequence,
    payload: new Uint8Array(),
    headers: purgeHeaders("24h"),
    timeUnixMs: 1_000_000 + sequence,
  };
}
