import { create, toBinary } from "@bufbuild/protobuf";
import { type Names, partitionOf } from "@ringwall/bus";
import {
  MarkPresenceRequestSchema,
  Presence,
  type PresenceMark,
  PresenceMarkSchema,
} from "@ringwall/wire";
import type { Outbox } from "../outbox.ts";
import type { Registry } from "../registry.ts";
import { presenceOf } from "../report.ts";
import type { LeaseStage } from "./lease-table.ts";

/** Most marks of one request. */
const MARKS_PER_REQUEST = 500;

/** How long the partition's owner may take. */
const REQUEST_TIMEOUT_MS = 5_000;

/** What leases make of a workload's presence. */
const PRESENCE: Readonly<Record<LeaseStage, Presence>> = {
  live: Presence.LIVE,
  stale: Presence.STALE,
  expired: Presence.EXPIRED,
};

/**
 * Brings REGISTRY to what the leases say: ids whose record differs are asked for again and again
 * until the fold agrees, at most one request per partition at a time.
 */
export class PresenceMarks {
  readonly #names: Names;
  readonly #registry: Registry;
  readonly #stageOf: (id: string) => LeaseStage | undefined;
  readonly #differing = new Set<string>();
  readonly #asked = new Set<number>();

  constructor(names: Names, registry: Registry, stageOf: (id: string) => LeaseStage | undefined) {
    this.#names = names;
    this.#registry = registry;
    this.#stageOf = stageOf;
  }

  /** Looks again at a workload whose lease or record changed. */
  check(id: string): void {
    if (this.#mark(id) === undefined) {
      this.#differing.delete(id);
    } else {
      this.#differing.add(id);
    }
  }

  /** Asks the owners of the partitions for what differs. */
  send(out: Outbox): void {
    const byPartition = new Map<number, PresenceMark[]>();
    for (const id of this.#differing) {
      const mark = this.#mark(id);
      const partition = partitionOf(id);
      const marks = byPartition.get(partition) ?? [];
      if (mark === undefined) {
        this.#differing.delete(id);
      } else if (!this.#asked.has(partition) && marks.length < MARKS_PER_REQUEST) {
        marks.push(mark);
        byPartition.set(partition, marks);
      }
    }
    for (const [partition, marks] of byPartition) {
      this.#asked.add(partition);
      out.fork({
        kind: "request",
        tag: `presence.${partition}`,
        subject: `${this.#names.internal("workload", "presence")}.${partition}`,
        payload: toBinary(MarkPresenceRequestSchema, create(MarkPresenceRequestSchema, { marks })),
        timeoutMs: REQUEST_TIMEOUT_MS,
      });
    }
  }

  /** The request of a partition was answered or failed. */
  answered(partition: number): void {
    this.#asked.delete(partition);
  }

  clear(): void {
    this.#differing.clear();
    this.#asked.clear();
  }

  #mark(id: string): PresenceMark | undefined {
    const stage = this.#stageOf(id);
    const stored = this.#registry.get(id);
    if (stage === undefined || stored === undefined) {
      return undefined;
    }
    const { record, sequence } = stored;
    const presence = PRESENCE[stage];
    return record.leased && presenceOf(presence, record.draining) === record.presence
      ? undefined
      : create(PresenceMarkSchema, { workload: id, presence, revision: BigInt(sequence) });
  }
}
