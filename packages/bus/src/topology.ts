import type { StreamConfig } from "@nats-io/jetstream";
import { type Names, PARTITIONS } from "./names.ts";

/** Logical names of every stream and bucket, in the order in which they are created. */
export const STREAMS = [
  "CONFIG",
  "BLOBS",
  "REGISTRY",
  "RENDERED",
  "CONTENT",
  "VERSIONS",
  "CHECKPOINTS",
  "OWNERS",
  "STATUS",
] as const;

/** Logical name of a stream or bucket. */
export type StreamName = (typeof STREAMS)[number];

/** Version of the layout of subjects and records, kept in each stream's metadata. */
export const TOPOLOGY_FORMAT = "1";

/** Batches that RENDERED keeps for each partition. */
export const RENDERED_PER_PARTITION = 10_000;

/** The settings of a stream that Ringwall decides; whatever is not named here is the server's. */
export type StreamSettings = Pick<
  StreamConfig,
  | "name"
  | "subjects"
  | "storage"
  | "retention"
  | "discard"
  | "max_msgs_per_subject"
  | "max_age"
  | "max_msgs"
  | "max_bytes"
  | "max_msg_size"
  | "num_replicas"
  | "duplicate_window"
  | "allow_direct"
  | "allow_rollup_hdrs"
  | "deny_delete"
  | "deny_purge"
> &
  Partial<Pick<StreamConfig, "allow_msg_ttl" | "persist_mode" | "description" | "metadata">>;

/**
 * The wanted settings of every stream. Nothing ages: what goes is trimmed by its owner. Message ids
 * are never used, so the dedupe window is as short as the server allows. `replicas` is the one
 * setting that may differ between control planes.
 */
export function streamSettings(
  names: Names,
  replicas = 1,
): ReadonlyMap<StreamName, StreamSettings> {
  const common = {
    retention: "limits",
    storage: "file",
    discard: "new",
    max_msgs_per_subject: -1,
    max_age: 0,
    max_msgs: -1,
    max_bytes: -1,
    max_msg_size: -1,
    num_replicas: replicas,
    duplicate_window: 100_000_000,
    allow_direct: true,
    allow_rollup_hdrs: false,
    deny_delete: false,
    deny_purge: false,
    metadata: { "ringwall.format": TOPOLOGY_FORMAT, "ringwall.partitions": String(PARTITIONS) },
  } as const;
  const stream = (name: StreamName, subjects: string[], own: Partial<StreamSettings>) =>
    [name, { ...common, name: names.stream(name), subjects, ...own }] as const;
  const bucket = (name: StreamName, own: Partial<StreamSettings>) =>
    stream(name, [`$KV.${names.prefix}-${name}.>`], {
      max_msgs_per_subject: 1,
      allow_rollup_hdrs: true,
      deny_delete: true,
      // A marker or a lease key may carry its own time to live.
      allow_msg_ttl: true,
      ...own,
    });
  const { prefix } = names;
  return new Map<StreamName, StreamSettings>([
    stream("CONFIG", [names.configCommit], {
      description: "Commits of the declared tree",
      deny_delete: true,
      deny_purge: true,
    }),
    stream("BLOBS", [`${prefix}.blob.*.*`], {
      description: "File bytes of commits",
      max_msgs_per_subject: 1,
      discard: "old",
    }),
    bucket("REGISTRY", { description: "Workloads and their endpoint rows" }),
    stream("RENDERED", [`${prefix}.rendered.*`], {
      description: "What each debounce window changed, by partition",
      max_msgs_per_subject: RENDERED_PER_PARTITION,
      discard: "old",
    }),
    stream("CONTENT", [`${prefix}.content.*.*`], {
      description: "Content-addressed parts of policies",
      max_msgs_per_subject: 1,
      discard: "old",
      // Derivable: whoever misses a part has it put again. Only possible without replicas.
      ...(replicas === 1 ? { persist_mode: "async" } : {}),
    }),
    stream("VERSIONS", [`${prefix}.version.*`], {
      description: "Version steps of workloads, by partition",
    }),
    stream("CHECKPOINTS", [`${prefix}.checkpoint.>`], {
      description: "Folds of the logs, a and b in turn",
      max_msgs_per_subject: 1,
      discard: "old",
    }),
    bucket("OWNERS", { description: "Leases of instances and slots", storage: "memory" }),
    bucket("STATUS", { description: "Delivery state by gateway", storage: "memory" }),
  ]);
}
