import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import { ClaimRequestSchema, ClaimResponseSchema } from "@ringwall/wire";
import type { Outbox } from "../outbox.ts";
import type { Partition } from "../versions/partition.ts";
import { fromHex } from "../wire/hex.ts";
import type { Session } from "./session.ts";

const VERIFY_TAG = "verify:";
const CLAIM_TAG = "claim:";
const TIMEOUT_MS = 5000;
const RETRY_MS = 5000;
/** Claims that wait for the keeper's answer at the same time. */
const WINDOW = 64;

/**
 * Claims that contradict the log. Before one is made, the partition's last record is read from the
 * stream's leader: a reader that is behind is no contradiction.
 */
export class Claims {
  readonly #out: Outbox;
  readonly #names: Names;
  readonly #partition: (partition: number) => Partition;
  readonly #verifying = new Map<number, Set<Session>>();
  readonly #asking = new Set<number>();
  readonly #open = new Map<string, Session>();
  #waiting: Session[] = [];

  constructor(out: Outbox, names: Names, partition: (partition: number) => Partition) {
    this.#out = out;
    this.#names = names;
    this.#partition = partition;
  }

  /** Brings a session's claim one stage on; it is judged again when that has an answer. */
  advance(session: Session): void {
    switch (session.claim) {
      case "none":
        this.#verify(session);
        break;
      case "verified":
        session.claim = "claimed";
        this.#waiting.push(session);
        this.#send();
        break;
      default:
        break;
    }
  }

  /** Takes the leader's last record of a partition; the sessions to judge again. */
  verified(tag: string, record: StoredRecord | undefined): readonly Session[] {
    const partition = Number(tag.slice(VERIFY_TAG.length));
    const sessions = [...(this.#verifying.get(partition) ?? [])];
    this.#verifying.delete(partition);
    this.#asking.delete(partition);
    const behind = (record?.sequence ?? 0) > this.#partition(partition).lastSequence;
    for (const session of sessions) {
      session.claim = behind ? "none" : "verified";
    }
    // A reader that is behind gets there by itself, and the record that it reads is judged then.
    return behind ? [] : sessions;
  }

  /** Takes the keeper's answer; the session to judge again. */
  answered(tag: string, payload: Uint8Array, nowMs: number): Session | undefined {
    const session = this.#close(tag);
    if (session === undefined) {
      return undefined;
    }
    let problem: string;
    try {
      const response = fromBinary(ClaimResponseSchema, payload);
      problem = response.error === undefined ? "" : response.error.message;
      this.#out.count("ringwall_claims_total", { result: claimResult(response) });
    } catch {
      problem = "the keeper's answer can't be read";
    }
    session.words = problem;
    session.claimAtMs = nowMs + RETRY_MS;
    return session;
  }

  /** No answer came. */
  failed(tag: string, nowMs: number): Session | undefined {
    if (tag.startsWith(VERIFY_TAG)) {
      const partition = Number(tag.slice(VERIFY_TAG.length));
      for (const session of this.#verifying.get(partition) ?? []) {
        session.claim = "none";
        session.claimAtMs = nowMs + RETRY_MS;
      }
      this.#verifying.delete(partition);
      this.#asking.delete(partition);
      return undefined;
    }
    const session = this.#close(tag);
    if (session !== undefined) {
      session.words = "no keeper answers";
      session.claimAtMs = nowMs + RETRY_MS;
    }
    return session;
  }

  /** True if the tag is one of a claim's. */
  static isTag(tag: string): boolean {
    return tag.startsWith(VERIFY_TAG) || tag.startsWith(CLAIM_TAG);
  }

  #verify(session: Session): void {
    const { partition } = session;
    session.claim = "verifying";
    const sessions = this.#verifying.get(partition) ?? new Set();
    sessions.add(session);
    this.#verifying.set(partition, sessions);
    if (!this.#asking.has(partition)) {
      this.#asking.add(partition);
      const subject = this.#names.version(partition);
      const tag = `${VERIFY_TAG}${partition}`;
      this.#out.fork({ kind: "read-last", tag, stream: "VERSIONS", subject });
    }
  }

  #send(): void {
    while (this.#open.size < WINDOW) {
      const session = this.#waiting.shift();
      if (session === undefined) {
        return;
      }
      const { epoch, version, digest } = session.has;
      const request = create(ClaimRequestSchema, {
        workload: session.workload,
        epoch,
        version: BigInt(version),
        digest: digest === "" ? new Uint8Array(32) : fromHex(digest),
      });
      if (session.inputs !== undefined) {
        request.inputs = session.inputs;
      }
      this.#open.set(session.workload, session);
      this.#out.fork({
        kind: "request",
        tag: `${CLAIM_TAG}${session.workload}`,
        subject: `${this.#names.internal("version", "claim")}.${session.partition}`,
        payload: toBinary(ClaimRequestSchema, request),
        timeoutMs: TIMEOUT_MS,
      });
    }
  }

  #close(tag: string): Session | undefined {
    const workload = tag.slice(CLAIM_TAG.length);
    const session = this.#open.get(workload);
    this.#open.delete(workload);
    if (session !== undefined) {
      session.claim = "none";
    }
    this.#send();
    return session;
  }
}

function claimResult(response: { readonly error?: unknown; readonly moved: boolean }): string {
  if (response.error !== undefined) {
    return "refused";
  }
  return response.moved ? "moved" : "fits";
}
