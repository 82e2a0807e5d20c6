import { createHash } from "node:crypto";
import { clone, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type ConfigCheckpoint, ConfigCheckpointSchema, type Inputs } from "@ringwall/wire";

/** What a checkpoint of the configuration says. */
export interface ConfigFrame {
  readonly streamCreatedUnixNs: bigint;
  readonly coveredSequence: number;
  readonly inputs: Inputs;
  readonly commits: number;
  readonly treeSha256: Uint8Array;
  readonly registryCreatedUnixNs: bigint;
}

/** Bytes of a checkpoint of the configuration, with its digest. */
export function configCheckpointBytes(frame: ConfigFrame): Uint8Array<ArrayBuffer> {
  const checkpoint = create(ConfigCheckpointSchema, {
    streamCreatedUnixNs: frame.streamCreatedUnixNs,
    coveredSequence: BigInt(frame.coveredSequence),
    inputs: frame.inputs,
    commits: BigInt(frame.commits),
    treeSha256: new Uint8Array(frame.treeSha256),
    registryCreatedUnixNs: frame.registryCreatedUnixNs,
  });
  checkpoint.totalDigest = digestOf(checkpoint);
  return toBinary(ConfigCheckpointSchema, checkpoint);
}

/** Reads a checkpoint of the configuration; undefined when it is damaged. */
export function readConfigCheckpoint(payload: Uint8Array): ConfigCheckpoint | undefined {
  try {
    const checkpoint = fromBinary(ConfigCheckpointSchema, payload);
    const whole = Buffer.compare(digestOf(checkpoint), checkpoint.totalDigest) === 0;
    return whole ? checkpoint : undefined;
  } catch {
    return undefined;
  }
}

function digestOf(checkpoint: ConfigCheckpoint): Uint8Array<ArrayBuffer> {
  const bare = clone(ConfigCheckpointSchema, checkpoint);
  bare.totalDigest = new Uint8Array(0);
  const hash = createHash("sha256").update(toBinary(ConfigCheckpointSchema, bare));
  return new Uint8Array(hash.digest());
}
