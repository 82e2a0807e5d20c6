import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { HEADER, type Names, PARTITIONS, partitionOf, RegistryClaims } from "@ringwall/bus";
import { isWorkloadId, type SourceChange, type WorkloadSpec } from "@ringwall/render";
import { Presence, type WorkloadRecord, WorkloadRecordSchema } from "@ringwall/wire";

/** Header of markers that the server leaves where a value expired. */
const MARKER_HEADER = "Nats-Marker-Reason";

const OWNER_END = ".OWNER";

/** What one record of REGISTRY says. */
export type RegistryChange =
  | { readonly kind: "change"; readonly id: string; readonly change: SourceChange }
  /** Not a workload: a partition's owner key. */
  | { readonly kind: "none" }
  | { readonly kind: "unreadable"; readonly id: string };

/** The registry as the renderer needs it: every workload and the revision that it was read to. */
export class RegistryFeed {
  /** When partitions were taken over: tells places of another life of the stream. */
  readonly claims = new RegistryClaims();
  readonly #head: string;
  readonly #workloads = new Map<string, WorkloadSpec>();
  /** Workloads whose present value can't be read, by partition. */
  readonly #unreadable = new Map<number, Set<string>>();
  /** Sequence of the newest record of each partition that brought a mark. */
  readonly #markedAt = new Map<number, number>();
  #revision = 0;
  #last = { sequence: 0, timeUnixMs: 0 };

  constructor(names: Names) {
    this.#head = names.registryAll.slice(0, -1);
  }

  /** REGISTRY sequence up to which it was read. */
  get revision(): number {
    return this.#revision;
  }

  /** When the record at that revision was stored, Unix milliseconds; 0 if it was not read. */
  get timeUnixMs(): number {
    return this.#last.sequence === this.#revision ? Math.trunc(this.#last.timeUnixMs) : 0;
  }

  get size(): number {
    return this.#workloads.size;
  }

  get(id: string): WorkloadSpec | undefined {
    return this.#workloads.get(id);
  }

  /** Notes that everything up to a sequence has been delivered. */
  reached(sequence: number): void {
    this.#revision = Math.max(this.#revision, sequence);
  }

  /** Workloads of a partition whose present value can't be read by this build. */
  unreadableIn(partition: number): readonly string[] {
    return [...(this.#unreadable.get(partition) ?? [])];
  }

  /** REGISTRY sequence at which a workload of the partition was marked as enforced last; 0: never. */
  markedAt(partition: number): number {
    return this.#markedAt.get(partition) ?? 0;
  }

  take(record: StoredRecord): RegistryChange {
    this.reached(record.sequence);
    this.#last = { sequence: record.sequence, timeUnixMs: record.timeUnixMs };
    const id = this.#workloadOf(record.subject);
    if (id === undefined) {
      if (record.subject.endsWith(OWNER_END)) {
        this.claims.take(record);
      }
      return { kind: "none" };
    }
    const unreadable = this.#unreadable.get(partitionOf(id));
    unreadable?.delete(id);
    if (
      record.headers[HEADER.kvOperation] !== undefined ||
      record.headers[MARKER_HEADER] !== undefined
    ) {
      this.#workloads.delete(id);
      return { kind: "change", id, change: { kind: "removal", id } };
    }
    const workload = decode(record.payload);
    if (workload === undefined || workload.id !== id) {
      // What was there before stays: a damaged value is not a removal.
      this.#unreadable.set(partitionOf(id), (unreadable ?? new Set()).add(id));
      return { kind: "unreadable", id };
    }
    const spec = workloadSpec(workload);
    if (spec.enforced && this.#workloads.get(id)?.enforced !== true) {
      this.#markedAt.set(partitionOf(id), record.sequence);
    }
    this.#workloads.set(id, spec);
    return { kind: "change", id, change: { kind: "workload", workload: spec } };
  }

  #workloadOf(subject: string): string | undefined {
    const [kind, number, id, ...rest] = subject.startsWith(this.#head)
      ? subject.slice(this.#head.length).split(".")
      : [];
    const partition = Number(number);
    return kind === "w" &&
      id !== undefined &&
      rest.length === 0 &&
      isWorkloadId(id) &&
      partition < PARTITIONS &&
      partitionOf(id) === partition
      ? id
      : undefined;
  }
}

const PRESENCES: Readonly<Record<Presence, WorkloadSpec["presence"]>> = {
  [Presence.UNSPECIFIED]: "live",
  [Presence.LIVE]: "live",
  [Presence.STALE]: "stale",
  [Presence.DRAINING]: "draining",
  [Presence.EXPIRED]: "expired",
};

/** A stored workload as rendering takes it. */
export function workloadSpec(record: WorkloadRecord): WorkloadSpec {
  return {
    id: record.id,
    labels: record.labels,
    addresses: record.addresses,
    rows: record.rows.map((row) => ({
      service: row.service,
      address: row.address,
      port: row.port,
      ports: row.ports,
      portClasses: row.portClasses,
      weight: row.weight,
      metadata: row.metadata,
    })),
    outbounds: record.outbounds,
    // A presence that this build does not know is not taken for one that removes peers.
    presence: PRESENCES[record.presence] ?? "stale",
    enforced: record.enforced,
  };
}

function decode(payload: Uint8Array): WorkloadRecord | undefined {
  try {
    return fromBinary(WorkloadRecordSchema, payload);
  } catch {
    // The caller counts and logs it with the workload's id.
    return undefined;
  }
}
