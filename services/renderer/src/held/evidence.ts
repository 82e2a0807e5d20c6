import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import {
  type Inputs,
  RenderBatchSchema,
  VersionCheckpointSchema,
  VersionRecordSchema,
} from "@ringwall/wire";

/** Inputs that a later record names: the streams that they came from must still have them. */
export interface Claim {
  /** Stream and subject of the record that names it. */
  readonly stream: EvidenceStream;
  readonly subject: string;
  readonly inputs: Inputs;
  /** Creation time of REGISTRY that it was computed from, if it says so. */
  readonly registryCreatedUnixNs?: bigint;
}

/** Which stream a record of evidence is from. */
export type EvidenceStream = "RENDERED" | "VERSIONS" | "CHECKPOINTS";

/**
 * Collects what later records name. The last record of a subject speaks for it: what an earlier one
 * named may be given up by an operator's word, which goes by the last ones.
 */
export class Evidence {
  readonly #claims = new Map<string, Claim>();

  get claims(): Iterable<Claim> {
    return this.#claims.values();
  }

  /** True if nothing is left to be judged. */
  get isEmpty(): boolean {
    return this.#claims.size === 0;
  }

  /** Forgets claims that were found to hold: in one life of the streams they hold on. */
  drop(claims: Iterable<Claim>): void {
    for (const claim of claims) {
      if (this.#claims.get(nameOf(claim)) === claim) {
        this.#claims.delete(nameOf(claim));
      }
    }
  }

  /** Takes the last record of a subject. What can't be read names nothing. */
  take(stream: EvidenceStream, record: StoredRecord): void {
    const claim = readClaim(stream, record);
    if (claim !== undefined && claim.inputs.commitId.length > 0) {
      this.add(claim);
    }
  }

  /** Adds a claim. */
  add(claim: Claim): void {
    this.#claims.set(nameOf(claim), claim);
  }
}

/** The record of a claim, for people. */
export function nameOf({ stream, subject }: Claim): string {
  return `${stream} ${subject}`;
}

function readClaim(stream: EvidenceStream, record: StoredRecord): Claim | undefined {
  const { subject } = record;
  try {
    const { inputs, created } = decode(stream, record.payload);
    return inputs === undefined
      ? undefined
      : { stream, subject, inputs, ...(created ? { registryCreatedUnixNs: created } : {}) };
  } catch {
    return undefined;
  }
}

function decode(
  stream: EvidenceStream,
  payload: Uint8Array,
): { inputs?: Inputs; created?: bigint } {
  switch (stream) {
    case "RENDERED":
      return given(fromBinary(RenderBatchSchema, payload).inputs);
    case "VERSIONS": {
      const { record } = fromBinary(VersionRecordSchema, payload);
      return given(record.case === undefined ? undefined : record.value.inputs);
    }
    case "CHECKPOINTS": {
      const { inputs, registryCreatedUnixNs } = fromBinary(VersionCheckpointSchema, payload);
      return { ...given(inputs), created: registryCreatedUnixNs };
    }
  }
}

function given(inputs: Inputs | undefined): { inputs?: Inputs } {
  return inputs === undefined ? {} : { inputs };
}
