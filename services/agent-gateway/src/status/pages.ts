import { create } from "@bufbuild/protobuf";
import type { Names } from "@ringwall/bus";
import { AgentState, type WorkloadStatus, WorkloadStatusSchema } from "@ringwall/wire";
import { DETAIL_LIMIT, PAGE_SIZE } from "../limits.ts";
import type { Outbox } from "../outbox.ts";
import type { Session } from "../session/session.ts";
import { fromHex } from "../wire/hex.ts";
import { StatusBytes } from "../wire/status-bytes.ts";
import type { HeadView } from "./head-view.ts";

const TAG = "status:";

/** A page is written at least this often while it lists anybody. */
const REFRESH_MS = 10_000;

/** Pages written in one turn. */
const PAGES_PER_TURN = 2;

/** A page is not written again within this time. */
const PAUSE_MS = 900;

const PURGE = { "KV-Operation": "PURGE", "Nats-Rollup": "sub" };

interface Page {
  readonly sessions: (Session | undefined)[];
  used: number;
  dirty: boolean;
  writing: boolean;
  writtenMs: number;
}

/**
 * This gateway's part of STATUS: pages of up to 256 workloads, each written at most once per call
 * of `write`, and only one write of a page at a time.
 */
export class Pages {
  readonly #out: Outbox;
  readonly #names: Names;
  readonly #gateway: string;
  readonly #head: (session: Session) => HeadView;
  readonly #bytes: StatusBytes;
  readonly #pages: Page[] = [];
  readonly #free: number[] = [];

  constructor(out: Outbox, names: Names, gateway: string, head: (session: Session) => HeadView) {
    this.#out = out;
    this.#names = names;
    this.#gateway = gateway;
    this.#head = head;
    this.#bytes = new StatusBytes(gateway);
  }

  /** Lists a session. */
  add(session: Session): void {
    const slot = this.#free.pop() ?? this.#grow();
    const page = this.#pages[Math.floor(slot / PAGE_SIZE)];
    if (page !== undefined) {
      page.sessions[slot % PAGE_SIZE] = session;
      page.used += 1;
      page.dirty = true;
      session.slot = slot;
    }
  }

  /** Lists a session no more. */
  remove(session: Session): void {
    const page = this.#pageOf(session);
    if (page !== undefined) {
      page.sessions[session.slot % PAGE_SIZE] = undefined;
      page.used -= 1;
      page.dirty = true;
      this.#free.push(session.slot);
      session.slot = -1;
    }
  }

  /** A session's state is another one. */
  touch(session: Session): void {
    const page = this.#pageOf(session);
    if (page !== undefined) {
      page.dirty = true;
    }
  }

  /** STATUS was lost: every page is written again. */
  touchAll(): void {
    for (const page of this.#pages) {
      page.dirty = true;
      page.writing = false;
    }
  }

  /** Writes pages that changed or are due, a few per call; true if some are left. */
  write(nowMs: number, nowUnixMs: number): boolean {
    let budget = PAGES_PER_TURN;
    for (const [index, page] of this.#pages.entries()) {
      const ageMs = nowMs - page.writtenMs;
      const due = page.dirty ? ageMs >= PAUSE_MS : page.used > 0 && ageMs >= REFRESH_MS;
      if (!due || page.writing) {
        continue;
      }
      if (budget === 0) {
        return true;
      }
      budget -= 1;
      this.#writePage(index, page, nowMs, nowUnixMs);
    }
    return false;
  }

  /** Takes the end of a write; false if the tag is not one of STATUS. */
  written(tag: string, stored: boolean): boolean {
    if (!tag.startsWith(TAG)) {
      return false;
    }
    const page = this.#pages[Number(tag.slice(TAG.length))];
    if (page !== undefined) {
      page.writing = false;
      page.dirty ||= !stored;
    }
    return true;
  }

  #writePage(index: number, page: Page, nowMs: number, nowUnixMs: number): void {
    page.dirty = false;
    page.writing = true;
    page.writtenMs = nowMs;
    const sessions = page.sessions.filter((session) => session !== undefined);
    const isEmpty = sessions.length === 0;
    this.#out.fork({
      kind: "append",
      tag: `${TAG}${index}`,
      stream: "STATUS",
      subject: this.#names.status(this.#gateway, index),
      payload: isEmpty ? new Uint8Array() : this.#bytes.page(nowUnixMs, sessions, this.#head),
      ...(isEmpty ? { headers: PURGE } : {}),
    });
  }

  #pageOf(session: Session): Page | undefined {
    return session.slot < 0 ? undefined : this.#pages[Math.floor(session.slot / PAGE_SIZE)];
  }

  #grow(): number {
    const first = this.#pages.length * PAGE_SIZE;
    const sessions = new Array<Session | undefined>(PAGE_SIZE).fill(undefined);
    this.#pages.push({
      sessions,
      used: 0,
      dirty: false,
      writing: false,
      writtenMs: Number.NEGATIVE_INFINITY,
    });
    for (let slot = first + PAGE_SIZE - 1; slot > first; slot -= 1) {
      this.#free.push(slot);
    }
    return first;
  }
}

/** A session as STATUS tells it. */
export function statusOf(session: Session, gateway: string, head: HeadView): WorkloadStatus {
  const status = create(WorkloadStatusSchema, {
    workload: session.workload,
    state: session.state,
    detail: session.detail.slice(0, DETAIL_LIMIT),
    epoch: head.epoch,
    headVersion: BigInt(head.version),
    ackedVersion: BigInt(session.has.version),
    ackedDigest: fromHex(session.has.digest),
    parkedDigests: session.parked.map(fromHex),
    seenUnixMs: BigInt(Math.trunc(session.seenUnixMs)),
    gateway,
    session: BigInt(session.session),
    agentVersion: session.agentVersion,
    facts: { ...session.facts },
    driftCount: session.driftCount,
    mode: head.mode,
    ackedUnixMs: BigInt(Math.trunc(session.ackedUnixMs)),
  });
  if (session.inputs !== undefined) {
    status.inputs = session.inputs;
  }
  return status;
}

/** The status of a workload that no gateway has a session of. */
export function offlineStatus(workload: string, head: HeadView): WorkloadStatus {
  return create(WorkloadStatusSchema, {
    workload,
    state: AgentState.OFFLINE,
    detail: "no session",
    epoch: head.epoch,
    headVersion: BigInt(head.version),
    mode: head.mode,
  });
}
