/**
 * Every name on the bus, made from one prefix (`[a-z][a-z0-9-]{0,15}`), so that several control
 * planes share one NATS. Streams and buckets are `<prefix>-NAME`, subjects begin `<prefix>.`.
 */
export interface Names {
  readonly prefix: string;
  /** Logical name (`CONFIG`, `REGISTRY`, …) to the name of its stream; buckets are streams `KV_…`. */
  readonly stream: (logical: string) => string;
  readonly configCommit: string;
  readonly blob: (sha256Hex: string, index: number) => string;
  /** Key of a workload in REGISTRY as the subject of its bucket's stream. */
  readonly registryWorkload: (partition: number, workload: string) => string;
  readonly registryOwner: (partition: number) => string;
  /** Filter over the OWNER keys of all partitions. */
  readonly registryOwners: string;
  /** Filter over all keys of a partition: what the partition's fence counts. */
  readonly registryPartition: (partition: number) => string;
  readonly registryAll: string;
  readonly rendered: (partition: number) => string;
  readonly content: (digestHex: string, index: number) => string;
  readonly version: (partition: number) => string;
  readonly checkpoint: (
    kind: "config" | "version",
    partition: number,
    slot: "a" | "b",
    index: number,
  ) => string;
  readonly owner: (key: string) => string;
  readonly ownersAll: string;
  readonly status: (gateway: string, page: number) => string;
  readonly statusAll: string;
  /** `<prefix>.api.<noun>.<verb>[.<partition>]` */
  readonly api: (noun: string, verb: string, partition?: number) => string;
  readonly internal: (noun: string, verb: string) => string;
  readonly lease: string;
  readonly gatewaySession: string;
  readonly agentHello: (workload: string) => string;
  readonly agentUp: (workload: string, gateway: string) => string;
  readonly agentDown: (workload: string) => string;
}

/** The default prefix. */
export const DEFAULT_PREFIX = "rw";

/** Number of partitions: a constant of the format. */
export const PARTITIONS = 64;

const PREFIX = /^[a-z][a-z0-9-]{0,15}$/;
const BUCKETS = new Set(["REGISTRY", "OWNERS", "STATUS"]);

/** Builds the names for a prefix; throws RangeError on one that is out of grammar. */
export function names(prefix: string = DEFAULT_PREFIX): Names {
  if (!PREFIX.test(prefix)) {
    throw new RangeError(
      `prefix "${prefix}" is not allowed: 1 to 16 of [a-z0-9-], beginning with a letter`,
    );
  }
  const bucket = (logical: string) => `$KV.${prefix}-${logical}`;
  return {
    prefix,
    stream: (logical) => `${BUCKETS.has(logical) ? "KV_" : ""}${prefix}-${logical}`,
    configCommit: `${prefix}.config.commit`,
    blob: (sha256Hex, index) => `${prefix}.blob.${sha256Hex}.${index}`,
    registryWorkload: (partition, workload) => `${bucket("REGISTRY")}.w.${partition}.${workload}`,
    registryOwner: (partition) => `${bucket("REGISTRY")}.w.${partition}.OWNER`,
    registryOwners: `${bucket("REGISTRY")}.w.*.OWNER`,
    registryPartition: (partition) => `${bucket("REGISTRY")}.w.${partition}.>`,
    registryAll: `${bucket("REGISTRY")}.>`,
    rendered: (partition) => `${prefix}.rendered.${partition}`,
    content: (digestHex, index) => `${prefix}.content.${digestHex}.${index}`,
    version: (partition) => `${prefix}.version.${partition}`,
    checkpoint: (kind, partition, slot, index) =>
      `${prefix}.checkpoint.${kind}.${partition}.${slot}.${index}`,
    owner: (key) => `${bucket("OWNERS")}.${key}`,
    ownersAll: `${bucket("OWNERS")}.>`,
    status: (gateway, page) => `${bucket("STATUS")}.${gateway}.${page}`,
    statusAll: `${bucket("STATUS")}.>`,
    api: (noun, verb, partition) =>
      `${prefix}.api.${noun}.${verb}${partition === undefined ? "" : `.${partition}`}`,
    internal: (noun, verb) => `${prefix}.internal.${noun}.${verb}`,
    lease: `${prefix}.lease`,
    gatewaySession: `${prefix}.gateway.session`,
    agentHello: (workload) => `${prefix}.agent.${workload}.hello`,
    agentUp: (workload, gateway) => `${prefix}.agent.${workload}.up.${gateway}`,
    agentDown: (workload) => `${prefix}.agent.${workload}.down`,
  };
}
