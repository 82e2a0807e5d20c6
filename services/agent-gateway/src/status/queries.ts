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
import type { Session } from "../session/session.ts";
import type { Partition } from "../versions/partition.ts";
import type { HeadView } from "./head-view.ts";
import { offlineStatus, statusOf } from "./pages.ts";
import type { PeerEntry, Peers } from "./peers.ts";

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

/** The newest that is known of a workload's agent. */
interface Standing {
  readonly state: AgentState;
  readonly detail: string;
  readonly ackedVersion: number;
}

/** Answers what operators ask about delivery: from this gateway's sessions and the others' pages. */
export class Queries {
  readonly #parts: QueryParts;

  constructor(parts: QueryParts) {
    this.#parts = parts;
  }

  /** Delivery states in byte order of the workloads' ids. */
  list(request: ListStatusRequest, moment: Moment): ListStatusResponse {
    const asked = request.ids.length === 0 ? this.#known() : new Set(request.ids);
    const ids = [...asked].filter((id) => id > request.after && this.#isKnown(id)).sort(byteOrder);
    const limit = Math.min(request.limit === 0 ? LIST_DEFAULT : request.limit, LIST_LIMIT);
    return create(ListStatusResponseSchema, {
      workloads: ids.slice(0, limit).map((id) => this.#status(id, moment)),
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
    const missing: { workload: string; reason: string; detail: string }[] = [];
    for (const workload of this.#known()) {
      const standing = this.#standing(workload, moment);
      const reason = this.#missing(workload, standing);
      const counts = reason === undefined || !UNCOUNTED.has(reason);
      response.agents += counts ? 1 : 0;
      response.acked += reason === undefined ? 1 : 0;
      waiting += counts && reason !== undefined ? 1 : 0;
      if (reason !== undefined && reason !== NOTHING_DUE) {
        missing.push({ workload, reason, detail: standing.detail });
      }
    }
    response.missing = missing
      .sort((a, b) => byteOrder(a.workload, b.workload))
      .slice(0, MISSING_LIMIT)
      .map((each) => create(MissingAgentSchema, each));
    response.converged = rendered && waiting === 0 && response.heldReason === "";
    return response;
  }

  /** Why an agent does not count as having the head; undefined if it has it. */
  #missing(workload: string, { state, detail, ackedVersion }: Standing): string | undefined {
    const { version } = this.#parts.head(workload);
    switch (state) {
      case AgentState.OFFLINE:
        return version === 0 ? NOTHING_DUE : "offline";
      case AgentState.HELD:
        return "held";
      case AgentState.UNKNOWN:
        return "unknown";
      case AgentState.REMOVED:
        return NOTHING_DUE;
      case AgentState.DEGRADED:
        return degraded(detail);
      default:
        if (version === 0) {
          return NOTHING_DUE;
        }
        return state === AgentState.SYNCED && ackedVersion === version ? undefined : "behind";
    }
  }

  #standing(workload: string, moment: Moment): Standing {
    const session = this.#session(workload);
    if (session !== undefined) {
      const { state, detail, has } = session;
      const gone = this.#parts.book.get(workload) === undefined;
      return gone ? OFFLINE : { state, detail, ackedVersion: has.version };
    }
    const entry = this.#parts.peers.entries.get(workload);
    return entry === undefined || this.#isSilent(entry, moment) ? OFFLINE : entry;
  }

  #status(workload: string, moment: Moment): WorkloadStatus {
    const { peers, book, gateway } = this.#parts;
    const head = this.#parts.head(workload);
    const session = this.#session(workload);
    if (session !== undefined) {
      const status = statusOf(session, gateway, head);
      return book.get(workload) === undefined ? offline(status) : status;
    }
    const entry = peers.entries.get(workload);
    const told = peers.status(workload);
    if (entry === undefined || told === undefined) {
      return offlineStatus(workload, head);
    }
    const status = clone(WorkloadStatusSchema, told);
    status.headVersion = BigInt(head.version);
    status.epoch = head.epoch;
    return this.#isSilent(entry, moment) ? offline(status) : status;
  }

  /** Our session of a workload, open or gone, unless another gateway has a newer one. */
  #session(workload: string): Session | undefined {
    const { book, peers } = this.#parts;
    const session = book.get(workload) ?? book.ghost(workload);
    return session === undefined || peers.sessionOf(workload) > session.session
      ? undefined
      : session;
  }

  #isSilent(entry: PeerEntry, moment: Moment): boolean {
    const patienceMs = this.#parts.heartbeatMs * DEAD_INTERVALS + PAGE_SLACK_MS;
    return this.#parts.peers.silentMs(entry, moment.monotonicMs) > patienceMs;
  }

  #isKnown(workload: string): boolean {
    const { book, peers, head } = this.#parts;
    return (
      book.get(workload) !== undefined ||
      book.ghost(workload) !== undefined ||
      peers.entries.has(workload) ||
      head(workload).version > 0
    );
  }

  #known(): ReadonlySet<string> {
    const { book, peers, partitions } = this.#parts;
    const ids = new Set<string>(peers.entries.keys());
    for (const sessions of [book.sessions, book.ghosts]) {
      for (const { workload } of sessions) {
        ids.add(workload);
      }
    }
    for (const partition of partitions) {
      for (const [workload, head] of partition.heads) {
        if (head.digest !== "") {
          ids.add(workload);
        }
      }
    }
    return ids;
  }
}

const OFFLINE: Standing = { state: AgentState.OFFLINE, detail: "no heartbeat", ackedVersion: 0 };

function offline(status: WorkloadStatus): WorkloadStatus {
  status.state = AgentState.OFFLINE;
  status.detail = OFFLINE.detail;
  return status;
}

function degraded(detail: string): string {
  if (detail.startsWith("agent too old")) {
    return "agent too old";
  }
  if (detail.startsWith("parked")) {
    return "parked";
  }
  return detail.startsWith("not rendered") ? "refused" : "behind";
}

/** Ids are ASCII: UTF-16 order is byte order. */
function byteOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
