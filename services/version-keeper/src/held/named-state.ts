import type { Inputs } from "@ringwall/wire";
import type { CheckpointBook } from "../checkpoints/checkpoint-book.ts";
import type { VersionLog } from "../versions/version-log.ts";

/** What a record says that CONFIG and REGISTRY were. */
export interface NamedState {
  /** Where it says so, for people. */
  readonly where: string;
  readonly inputs: Inputs;
  /** Creation time of REGISTRY, where the record has it. */
  readonly registryCreatedUnixNs?: bigint;
}

/** Everything that the last records of VERSIONS and the checkpoints name. */
export function namedStates(versions: VersionLog, book: CheckpointBook): NamedState[] {
  const named: NamedState[] = [];
  for (const [partition, { inputs }] of versions.partitions.entries()) {
    if (inputs !== undefined) {
      named.push({ where: `VERSIONS of partition ${partition}`, inputs });
    }
    for (const checkpoint of book.ofPartition(partition)) {
      if (checkpoint.inputs !== undefined) {
        named.push({
          where: `checkpoint ${checkpoint.slot} of partition ${partition}`,
          inputs: checkpoint.inputs,
          registryCreatedUnixNs: checkpoint.registryCreatedUnixNs,
        });
      }
    }
  }
  for (const [slot, { inputs, registryCreatedUnixNs }] of book.configs) {
    if (inputs !== undefined) {
      const where = `checkpoint ${slot} of CONFIG`;
      named.push({ where, inputs, registryCreatedUnixNs });
    }
  }
  return named;
}
