import { fromBinary } from "@bufbuild/protobuf";
import { type Bus, PARTITIONS } from "@ringwall/bus";
import { VersionRecordSchema } from "@ringwall/wire";

/** Follows the records of VERSIONS as they are appended. */
export interface VersionWatch {
  /**
   * Waits until every partition has a record whose inputs reach a CONFIG sequence; the number of
   * workloads that advanced since the last wait.
   */
  reached(configSequence: bigint): Promise<number>;
}

/** Begins to follow VERSIONS. */
export function watchVersions(bus: Bus): VersionWatch {
  const sequences = new Map<string, bigint>();
  let advanced = 0;
  let changed: () => void = () => undefined;
  bus.nc.subscribe(`${bus.names.prefix}.version.*`, {
    callback: (_, { subject, data }) => {
      const { record } = fromBinary(VersionRecordSchema, data);
      if (record.case === "batch") {
        sequences.set(subject, record.value.inputs?.configSequence ?? 0n);
        for (const { advances } of record.value.steps) {
          advanced += advances.length;
        }
        changed();
      }
    },
  });
  const isReached = (wanted: bigint) =>
    sequences.size === PARTITIONS && [...sequences.values()].every((each) => each >= wanted);
  return {
    async reached(wanted) {
      while (!isReached(wanted)) {
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      }
      const count = advanced;
      advanced = 0;
      return count;
    },
  };
}
