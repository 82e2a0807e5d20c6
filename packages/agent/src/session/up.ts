import { create, toBinary } from "@bufbuild/protobuf";
import {
  type AckStatus,
  type BodyDigest,
  CountersSchema,
  type Down,
  HeartbeatSchema,
  HelloSchema,
  type Inputs,
  type InventoryReport,
  UpSchema,
} from "@ringwall/wire";
import type { CounterReading } from "../backend/backend.ts";
import { digestBytes } from "../digest.ts";
import type { PolicyRecord } from "../record.ts";
import { ackBytes } from "./ack-bytes.ts";
import { type AgentEnv, SCHEMA_LEVEL } from "./contract.ts";

const DETAIL_LIMIT = 1024;
const NO_BYTES = new Uint8Array();

/** What an agent says of itself when it opens a session. */
export interface HelloParts {
  readonly nonce: bigint;
  readonly lastSession: bigint;
  readonly record: PolicyRecord | undefined;
  /** False if the record is remembered but not in force: then no digest is claimed. */
  readonly installed: boolean;
  /** Inputs of the latest policy, whether it could be stored or not. */
  readonly inputs: Inputs | undefined;
  readonly refused: readonly BodyDigest[];
  readonly inventory: InventoryReport | undefined;
}

/** The bytes of a Hello. */
export function encodeHello(env: AgentEnv, parts: HelloParts): Uint8Array {
  const hello = create(HelloSchema, {
    nonce: parts.nonce,
    lastSession: parts.lastSession,
    schemaLevel: SCHEMA_LEVEL,
    agentVersion: env.agentVersion,
    epoch: parts.record?.epoch ?? 0n,
    appliedVersion: parts.record?.policy.version ?? 0n,
    digest: claimedDigest(parts.record, parts.installed),
    refusedDigests: parts.refused.map(digestBytes),
    facts: { ...env.facts },
  });
  if (parts.inputs !== undefined) {
    hello.inputs = parts.inputs;
  }
  if (parts.inventory !== undefined) {
    hello.inventory = parts.inventory;
  }
  return toBinary(
    UpSchema,
    create(UpSchema, { session: parts.lastSession, body: { case: "hello", value: hello } }),
  );
}

/** The bytes of the acknowledgement of a push; `detail` is cut at 1 KiB. */
export function encodeAck(
  session: bigint,
  down: Down,
  status: AckStatus,
  detail: string,
): Uint8Array {
  const { epoch, headVersion: version, digest, seq } = down;
  const ack = { epoch, version, digest, status, detail: cut(detail), seq };
  return (
    ackBytes({ session, ...ack }) ??
    toBinary(UpSchema, create(UpSchema, { session, body: { case: "ack", value: ack } }))
  );
}

/** The bytes of a sign of life. */
export function encodeHeartbeat(
  session: bigint,
  record: PolicyRecord | undefined,
  installed: boolean,
  lastSeq: bigint,
  driftCount: number,
): Uint8Array {
  const heartbeat = create(HeartbeatSchema, {
    epoch: record?.epoch ?? 0n,
    version: record?.policy.version ?? 0n,
    digest: claimedDigest(record, installed),
    lastSeq,
    driftCount: BigInt(driftCount),
  });
  return toBinary(
    UpSchema,
    create(UpSchema, { session, body: { case: "heartbeat", value: heartbeat } }),
  );
}

/** The bytes of a report of what the host serves. */
export function encodeInventory(session: bigint, report: InventoryReport): Uint8Array {
  return toBinary(
    UpSchema,
    create(UpSchema, { session, body: { case: "inventory", value: report } }),
  );
}

/** The bytes of a report of traffic counters. */
export function encodeCounters(
  session: bigint,
  record: PolicyRecord,
  reading: CounterReading,
): Uint8Array {
  const counters = create(CountersSchema, {
    epoch: record.epoch,
    version: record.policy.version,
    rulePackets: Object.fromEntries(reading.rulePackets),
    wouldDrops: reading.wouldDrops.slice(-100).map((drop) => ({ ...drop })),
  });
  return toBinary(
    UpSchema,
    create(UpSchema, { session, body: { case: "counters", value: counters } }),
  );
}

function claimedDigest(record: PolicyRecord | undefined, installed: boolean): Uint8Array {
  return record === undefined || !installed ? NO_BYTES : digestBytes(record.digest);
}

function cut(detail: string): string {
  // No character takes more than three bytes.
  if (detail.length * 3 <= DETAIL_LIMIT) {
    return detail;
  }
  const bytes = Buffer.from(detail, "utf8");
  return bytes.length <= DETAIL_LIMIT
    ? detail
    : bytes.toString("utf8", 0, DETAIL_LIMIT - 4).replace(/�+$/, "");
}
