import { createHash } from "node:crypto";
import { api, type Bus, partitionOf } from "@ringwall/bus";
import {
  AcceptStateRequestSchema,
  AcceptStateResponseSchema,
  type AgentState,
  CommitRequestSchema,
  CommitResponseSchema,
  type CommitSummary,
  Layer,
  ListCommitsRequestSchema,
  ListCommitsResponseSchema,
  ListStatusRequestSchema,
  ListStatusResponseSchema,
  PutBlobRequestSchema,
  PutBlobResponseSchema,
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
  WorkloadSource,
  type WorkloadStatus,
} from "@ringwall/wire";

const CALL_MS = 1500;
const COMMIT_MS = 6000;
const PAUSE_MS = 100;
const BLOB_PART_BYTES = 512 * 1024;
const ENVIRONMENT = "prod";
const LIST_PAGE = 1000;
const DEADLINE_MS = 120_000;

/** One file of the core layer. */
export interface Document {
  readonly path: string;
  readonly text: string;
}

/** A workload as an adapter reports it. */
export interface Reported {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
}

/**
 * Changes the estate as operators and adapters do, and repeats until a change is acknowledged: what
 * `commit` and `report` return for is promised to be in force in the end.
 */
export class Operator {
  readonly #bus: Bus;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** Commits files. The message has to be unique: it tells an own commit whose answer was lost. */
  async commit(documents: readonly Document[], message: string): Promise<void> {
    await this.#until(`commit "${message}"`, async () => {
      const head = await this.head();
      if (head?.message === message) return;
      const puts = await Promise.all(documents.map((document) => this.#put(document)));
      const { result } = await api(this.#bus).call(
        "config",
        "commit",
        CommitRequestSchema,
        CommitResponseSchema,
        {
          expectedParent: head?.inputs?.commitId ?? new Uint8Array(),
          author: "chaos",
          message,
          puts,
          environment: ENVIRONMENT,
        },
        { timeoutMs: COMMIT_MS },
      );
      switch (result.case) {
        case "accepted":
          return;
        case "rejected":
          throw new Fatal(result.value.findings.map((finding) => finding.message).join("; "));
        case "error":
          throw new Error(result.value.message);
        default:
          throw new Error("someone else applied meanwhile");
      }
    });
  }

  /** The newest commit; undefined if there is none. Rejects when it can't be read. */
  async head(): Promise<CommitSummary | undefined> {
    const answer = await api(this.#bus).call(
      "config",
      "commits",
      ListCommitsRequestSchema,
      ListCommitsResponseSchema,
      { limit: 1 },
      { timeoutMs: CALL_MS },
    );
    if (answer.error !== undefined) throw new Error(answer.error.message);
    return answer.commits[0];
  }

  /** Number of commits in the log. */
  async commits(): Promise<number> {
    let count = 0;
    for (let more = true, before = 0n; more; ) {
      const answer = await api(this.#bus).call(
        "config",
        "commits",
        ListCommitsRequestSchema,
        ListCommitsResponseSchema,
        { beforeSequence: before },
        { timeoutMs: CALL_MS },
      );
      if (answer.error !== undefined) throw new Error(answer.error.message);
      count += answer.commits.length;
      before = answer.commits.at(-1)?.inputs?.configSequence ?? 0n;
      more = answer.more;
    }
    return count;
  }

  /** Accepts the state of the streams, which hold `expect` commits. */
  async accept(expect: number): Promise<void> {
    await this.#until(`accept ${expect}`, async () => {
      const { error } = await api(this.#bus).call(
        "config",
        "accept",
        AcceptStateRequestSchema,
        AcceptStateResponseSchema,
        { expect: BigInt(expect), author: "chaos" },
        { timeoutMs: CALL_MS },
      );
      if (error !== undefined) throw new Error(error.message);
    });
  }

  /** Registers or changes a workload. */
  async report({ id, labels, addresses }: Reported): Promise<void> {
    const request = {
      id,
      source: WorkloadSource.INVENTORY,
      labels: { ...labels },
      addresses: [...addresses],
      namespace: "chaos",
    };
    await this.#until(`report ${id}`, async () => {
      const answer = await api(this.#bus).call(
        "workload",
        "report",
        ReportWorkloadRequestSchema,
        ReportWorkloadResponseSchema,
        request,
        { partition: partitionOf(id), timeoutMs: CALL_MS },
      );
      if (answer.error !== undefined) throw new Error(answer.error.message);
    });
  }

  /** Reports many, a few at a time. */
  async reportAll(workloads: readonly Reported[]): Promise<void> {
    const queue = [...workloads];
    const lane = async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) await this.report(next);
    };
    await Promise.all(Array.from({ length: 64 }, lane));
  }

  /** Delivery states of every workload. */
  async statuses(): Promise<readonly WorkloadStatus[]> {
    const all: WorkloadStatus[] = [];
    for (let more = true; more; ) {
      const answer = await api(this.#bus).call(
        "status",
        "list",
        ListStatusRequestSchema,
        ListStatusResponseSchema,
        { after: all.at(-1)?.workload ?? "", limit: LIST_PAGE },
        { timeoutMs: CALL_MS },
      );
      if (answer.error !== undefined) throw new Error(answer.error.message);
      all.push(...answer.workloads);
      more = answer.more;
    }
    return all;
  }

  /** State of one workload; undefined if it is not listed or can't be asked now. */
  async state(workload: string): Promise<AgentState | undefined> {
    const statuses = await this.statuses().catch(() => []);
    return statuses.find((status) => status.workload === workload)?.state;
  }

  async #put({ path, text }: Document) {
    const bytes = Buffer.from(text);
    const sha256 = createHash("sha256").update(bytes).digest();
    const count = Math.max(1, Math.ceil(bytes.length / BLOB_PART_BYTES));
    for (let index = 0; index < count; index += 1) {
      const data = bytes.subarray(index * BLOB_PART_BYTES, (index + 1) * BLOB_PART_BYTES);
      const { error } = await api(this.#bus).call(
        "config",
        "blob",
        PutBlobRequestSchema,
        PutBlobResponseSchema,
        { sha256, index, count, data },
        { timeoutMs: CALL_MS },
      );
      if (error !== undefined) throw new Error(error.message);
    }
    return { layer: Layer.CORE, path, sha256, size: BigInt(bytes.length) };
  }

  async #until(what: string, attempt: () => Promise<void>): Promise<void> {
    const until = performance.now() + DEADLINE_MS;
    for (;;) {
      let last = "";
      try {
        return await attempt();
      } catch (error) {
        if (error instanceof Fatal) throw error;
        last = error instanceof Error ? error.message : String(error);
      }
      if (performance.now() > until) throw new Error(`${what}: not acknowledged; last: ${last}`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** What another attempt does not mend. */
class Fatal extends Error {}
