import { clone, create } from "@bufbuild/protobuf";
import type { Moment } from "@ringwall/actor";
import {
  AgentState,
  type ConvergenceRequest,
  type ConvergenceResponse,
  ConvergenceResponseSchema,
  type ListStatusRequest,
  type ListStatusResponse,
  ListStatusResponseSchema,
  MissingAgentSchema,
  type WorkloadStatus,
  WorkloadStatusSchema,
} from "@ringwall/wire";
import { DEAD_INTERVALS } from "../limits.ts";
import type { Book } from "../session/book.ts";
import type { Partition } from "../versions/partition.ts";
import { type HeadView, offlineStatus, statusOf } from "./pages.ts";
import type { Peers } from "./peers.ts";

const LIST_DEFAULT = 500;
const LIST_LIMIT = 1000;
const MISSING_LIMIT = 1000;

/** Nothing is to be delivered. */
const NOTHING_DUE = "removed";

/** Reasons for which an agent does not keep a commit from being converged. */
const UNCOUNTED: ReadonlySet<string> = new Set(["offline", "parked", NOTHING_DUE]);

/** Time that a page may be late, beyond the silence of its agents. */
const PAGE_SLACK_MS = 12_000;

/** What the answers are made from. */
export interface QueryParts {
  readonly gateway: string;
  readonly heartbeatMs: number;
  readonly book: Book;
  readonly peers: Peers;
  readonly partitions: readonly Partition[];
  readonly head: (workload: string) => HeadView;
  readonly generation: () => bigint;
  readonly held: () => string;
}

/** Answers what operators ask about delivery: from this gateway's sessions and the others' pages. */
export class Queries {
  readonly #parts: QueryParts;

  constructor(parts: QueryParts) {
    this.#parts = parts;
  }

  /** Delivery states in byte order of the workloads' ids. */
  list(request: ListStatusRequest, moment: Moment): ListStatusResponse {
    const statuses = this.#statuses(moment);
    const wanted = request.ids.length === 0 ? undefined : new Set(request.ids);
    const ids = this.#known(statuses)
      .filter((id) => id > request.after && (wanted === undefined || wanted.has(id)))
      .sort(byteOrder);
    const limit = Math.min(request.limit === 0 ? LIST_DEFAULT : request.limit, LIST_LIMIT);
    return create(ListStatusResponseSchema, {
      workloads: ids
        .slice(0, limit)
        .map((id) => statuses.get(id) ?? offlineStatus(id, this.#parts.head(id))),
      more: ids.length > limit,
    });
  }

  /**
   * How far a commit has come: rendered when the inputs of every partition reach it, converged when
   * moreover every agent that is online and not parked has acknowledged the head of now.
   */
  convergence(request: ConvergenceRequest, moment: Moment): ConvergenceResponse {
    const generation = this.#parts.generation();
    const rendered = this.#parts.partitions.every(
      ({ reached }) =>
        reached !== undefined &&
        reached.generation === generation &&
        reached.configSequence >= request.configSequence,
    );
    const response = create(ConvergenceResponseSchema, {
      rendered,
      heldReason: this.#parts.held(),
    });
    let waiting = 0;
    const statuses = this.#statuses(moment);
    for (const id of this.#known(statuses).sort(byteOrder)) {
      const status = statuses.get(id) ?? offlineStatus(id, this.#parts.head(id));
      const reason = this.#missing(status);
      const counts = reason === undefined || !UNCOUNTED.has(reason);
      response.agents += counts ? 1 : 0;
      response.acked += reason === undefined ? 1 : 0;
      waiting += counts && reason !== undefined ? 1 : 0;
      if (
        reason !== undefined &&
        reason !== NOTHING_DUE &&
        response.missing.length < MISSING_LIMIT
      ) {
        const { workload, detail } = status;
        response.missing.push(create(MissingAgentSchema, { workload, reason, detail }));
      }
    }
    response.converged = rendered && waiting === 0 && response.heldReason === "";
    return response;
  }

  /** Why an agent does not count as having the head; undefined if it has it. */
  #missing(status: WorkloadStatus): string | undefined {
    switch (status.state) {
      case AgentState.OFFLINE:
        return "offline";
      case AgentState.HELD:
        return "held";
      case AgentState.UNKNOWN:
        return "unknown";
      case AgentState.DEGRADED:
        return degraded(status);
      case AgentState.REMOVED:
        return NOTHING_DUE;
      default: {
        const { epoch, version } = this.#parts.head(status.workload);
        if (version === 0) {
          return NOTHING_DUE;
        }
        const head = status.epoch === epoch && status.ackedVersion === BigInt(version);
        return head && status.state === AgentState.SYNCED ? undefined : "behind";
      }
    }
  }

  #known(statuses: ReadonlyMap<string, WorkloadStatus>): string[] {
    const ids = new Set(statuses.keys());
    for (const partition of this.#parts.partitions) {
      for (const [workload, head] of partition.heads) {
        if (head.digest !== "") {
          ids.add(workload);
        }
      }
    }
    return [...ids];
  }

  /** The newest session of each workload, with silence told as OFFLINE. */
  #statuses(moment: Moment): Map<string, WorkloadStatus> {
    const { peers, book, gateway, head, heartbeatMs } = this.#parts;
    const statuses = new Map<string, WorkloadStatus>();
    const deadMs = heartbeatMs * DEAD_INTERVALS;
    for (const { status, silentMs } of peers.statuses(moment.monotonicMs)) {
      const { epoch, version } = head(status.workload);
      status.headVersion = BigInt(version);
      status.epoch = epoch;
      statuses.set(status.workload, silentMs > deadMs + PAGE_SLACK_MS ? offline(status) : status);
    }
    for (const [sessions, gone] of [
      [book.ghosts, true],
      [book.sessions, false],
    ] as const) {
      for (const session of sessions) {
        if (peers.sessionOf(session.workload) <= session.session) {
          const status = statusOf(session, gateway, head(session.workload));
          statuses.set(session.workload, gone ? offline(status) : status);
        }
      }
    }
    return statuses;
  }
}

function offline(status: WorkloadStatus): WorkloadStatus {
  const copy = clone(WorkloadStatusSchema, status);
  copy.state = AgentState.OFFLINE;
  copy.detail = "no heartbeat";
  return copy;
}

function degraded(status: WorkloadStatus): string {
  if (status.detail.startsWith("agent too old")) {
    return "agent too old";
  }
  const parked = status.parkedDigests.length > 0 && status.detail.startsWith("parked");
  if (parked) {
    return "parked";
  }
  return status.detail.startsWith("not rendered") ? "refused" : "behind";
}

/** Ids are ASCII: UTF-16 order is byte order. */
function byteOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
