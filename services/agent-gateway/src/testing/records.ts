import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { Headers } from "@ringwall/actor";
import { partitionOf } from "@ringwall/bus";
import { bodyDigest, type Canonical, canonical, content } from "@ringwall/rendered";
import {
  ConfigRecordSchema,
  EnforcementMode,
  type EpochBeginSchema,
  type Inputs,
  InputsSchema,
  Protocol,
  type VersionBatchSchema,
  VersionRecordSchema,
  type WorkloadPolicy,
  WorkloadPolicySchema,
  WorkloadRecordSchema,
} from "@ringwall/wire";
import { fromHex } from "../wire/hex.ts";

/** A record as it is stored: where, and what. */
export interface Entry {
  readonly stream: "CONFIG" | "REGISTRY" | "CONTENT" | "VERSIONS";
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers?: Headers;
}

/** The generation of every test's control plane. */
export const GENERATION = 1_700_000_000_000n;

/** The id of the commit at a place of CONFIG. */
export function commitId(sequence: number): Uint8Array {
  return new Uint8Array(32).fill(sequence);
}

/** Inputs that name the commit at a place of CONFIG. */
export function inputsAt(configSequence: number, registryRevision = 0): Inputs {
  return create(InputsSchema, {
    generation: GENERATION,
    configSequence: BigInt(configSequence),
    commitId: commitId(configSequence),
    registryRevision: BigInt(registryRevision),
  });
}

/** A policy body of one rule with these peers. */
export function body(...peers: string[]): Canonical<WorkloadPolicy> {
  return canonical(
    create(WorkloadPolicySchema, {
      mode: EnforcementMode.ENFORCED,
      inboundRules: [{ ruleId: "web/tcp", peerCidrs: peers, protocol: Protocol.TCP }],
    }),
  );
}

/** A commit; the first one names generation and environment. */
export function commit(prefix: string, sequence: number, environment = "prod"): Entry {
  const place =
    sequence === 1 ? { generation: GENERATION, environment } : { parent: commitId(sequence - 1) };
  const record = create(ConfigRecordSchema, {
    record: { case: "commit", value: { id: commitId(sequence), ...place } },
  });
  return {
    stream: "CONFIG",
    subject: `${prefix}.config.commit`,
    payload: toBinary(ConfigRecordSchema, record),
  };
}

/** An operator's acceptance of the state, which begins a generation. */
export function accepted(prefix: string, generation: bigint): Entry {
  const record = create(ConfigRecordSchema, {
    record: { case: "acceptState", value: { generation } },
  });
  return {
    stream: "CONFIG",
    subject: `${prefix}.config.commit`,
    payload: toBinary(ConfigRecordSchema, record),
  };
}

/** A registered workload. */
export function registered(prefix: string, workload: string): Entry {
  return {
    stream: "REGISTRY",
    subject: `$KV.${prefix}-REGISTRY.w.${partitionOf(workload)}.${workload}`,
    payload: toBinary(WorkloadRecordSchema, create(WorkloadRecordSchema, { id: workload })),
  };
}

/** The objects of a body. */
export function stored(prefix: string, policy: WorkloadPolicy, partBytes = 512 * 1024): Entry[] {
  return [...content(policy).objects].flatMap(([digest, bytes]) => {
    const count = Math.max(1, Math.ceil(bytes.length / partBytes));
    return Array.from({ length: count }, (_unused, index) => ({
      stream: "CONTENT" as const,
      subject: `${prefix}.content.${digest}.${index}`,
      payload: bytes.subarray(index * partBytes, (index + 1) * partBytes),
      headers: { "Rw-Count": String(count) },
    }));
  });
}

/** A record that begins an epoch of a workload's partition. */
export function epoch(
  prefix: string,
  workload: string,
  number: bigint,
  init: MessageInitShape<typeof EpochBeginSchema> = {},
): Entry {
  const record = create(VersionRecordSchema, {
    record: { case: "epochBegin", value: { epoch: number, ...init } },
  });
  return {
    stream: "VERSIONS",
    subject: `${prefix}.version.${partitionOf(workload)}`,
    payload: toBinary(VersionRecordSchema, record),
  };
}

/** A batch of a workload's partition. */
export function batch(
  prefix: string,
  workload: string,
  init: MessageInitShape<typeof VersionBatchSchema>,
): Entry {
  const record = create(VersionRecordSchema, {
    record: { case: "batch", value: { epoch: 1n, inputs: inputsAt(1), ...init } },
  });
  return {
    stream: "VERSIONS",
    subject: `${prefix}.version.${partitionOf(workload)}`,
    payload: toBinary(VersionRecordSchema, record),
  };
}

/** A batch that advances one workload. */
export function advance(
  prefix: string,
  workload: string,
  from: { readonly version: number; readonly policy: WorkloadPolicy } | undefined,
  to: { readonly version: number; readonly policy: WorkloadPolicy },
  init: MessageInitShape<typeof VersionBatchSchema> = {},
): Entry {
  return batch(prefix, workload, {
    steps: [
      {
        fromDigest: from === undefined ? new Uint8Array() : fromHex(bodyDigest(from.policy)),
        toDigest: fromHex(bodyDigest(to.policy)),
        advances: [
          {
            workload,
            fromVersion: BigInt(from?.version ?? 0),
            toVersion: BigInt(to.version),
          },
        ],
      },
    ],
    ...init,
  });
}
