import { create, toBinary } from "@bufbuild/protobuf";
import type { Outbox } from "@ringwall/actor";
import { ApiErrorSchema, type ClaimRequest, ClaimResponseSchema } from "@ringwall/wire";
import type { Advance } from "./advance.ts";
import { judgeClaim } from "./claims.ts";
import type { PartitionLog } from "./partition-log.ts";
import { storedHead } from "./version-records.ts";

/** Most claims of one partition that wait. */
const MOST_WAITING = 4_096;

/** Claims settled with one record. */
const CLAIMS_PER_RECORD = 500;

interface Waiting {
  readonly request: ClaimRequest;
  readonly replyTo: string;
}

/** Claims that were judged together. */
export interface Settled {
  readonly moves: readonly Advance[];
  /** Highest claimed epoch that the log does not know; the claims are judged again after it. */
  readonly above: bigint | undefined;
  readonly fitting: readonly Waiting[];
  readonly moved: readonly Waiting[];
}

/** Claims of a partition that wait for their settlement. */
export class ClaimDesk {
  #waiting: Waiting[] = [];

  /** True if a claim waits. */
  get waits(): boolean {
    return this.#waiting.length > 0;
  }

  /** Takes a claim, or refuses it when too many wait. */
  add(outbox: Outbox, request: ClaimRequest, replyTo: string): void {
    if (this.#waiting.length >= MOST_WAITING) {
      const message = `${MOST_WAITING} claims wait already; claim again later`;
      reject(outbox, replyTo, "unavailable", message);
      return;
    }
    this.#waiting.push({ request, replyTo });
  }

  /** Refuses every claim that waits. */
  refuse(outbox: Outbox, code: string, message: string): void {
    for (const { replyTo } of this.#waiting) {
      reject(outbox, replyTo, code, message);
    }
    this.#waiting = [];
  }

  /**
   * Judges the claims that wait, as many as one record takes; refused ones are answered at once.
   * Without `mayBegin` no claim makes a new epoch necessary now.
   */
  judge(outbox: Outbox, log: PartitionLog, nowUnixMs: number, mayBegin: boolean): Settled {
    const moves = new Map<string, Advance>();
    const fitting: Waiting[] = [];
    const moved: Waiting[] = [];
    const again: Waiting[] = [];
    let above: bigint | undefined;
    for (const waiting of this.#waiting.splice(0, CLAIMS_PER_RECORD)) {
      const { workload } = waiting.request;
      const verdict = judgeClaim(waiting.request, log, nowUnixMs);
      switch (verdict.kind) {
        case "fits":
          fitting.push(waiting);
          break;
        case "move": {
          const { head, toVersion } = verdict;
          moves.set(workload, {
            workload,
            fromDigest: head.digest,
            toDigest: head.digest,
            fromVersion: head.version,
            toVersion: Math.max(toVersion, moves.get(workload)?.toVersion ?? 0),
          });
          moved.push(waiting);
          break;
        }
        case "epoch":
          if (!mayBegin) {
            const message = `an epoch was begun for a claim lately; ${workload} has to wait`;
            reject(outbox, waiting.replyTo, "unavailable", message);
            break;
          }
          above = above === undefined || verdict.above > above ? verdict.above : above;
          again.push(waiting);
          break;
        case "refuse":
          reject(outbox, waiting.replyTo, verdict.code, verdict.message);
          break;
      }
    }
    this.#waiting.push(...again);
    return { moves: [...moves.values()], above, fitting, moved };
  }

  /** Answers settled claims with the heads of now. */
  answer(outbox: Outbox, log: PartitionLog, settled: Settled): void {
    const reply = ({ request, replyTo }: Waiting, moved: boolean) => {
      const head = log.heads.get(request.workload);
      const response = create(ClaimResponseSchema, { epoch: log.epoch, moved });
      if (head !== undefined) {
        response.head = storedHead(request.workload, head);
      }
      const payload = toBinary(ClaimResponseSchema, response);
      outbox.add({ kind: "reply", to: replyTo, payload });
    };
    for (const waiting of settled.fitting) {
      reply(waiting, false);
    }
    for (const waiting of settled.moved) {
      reply(waiting, true);
    }
  }
}

function reject(outbox: Outbox, to: string, code: string, message: string): void {
  const error = create(ApiErrorSchema, { code, message });
  const payload = toBinary(ClaimResponseSchema, create(ClaimResponseSchema, { error }));
  outbox.add({ kind: "reply", to, payload });
}
