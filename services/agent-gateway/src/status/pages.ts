import { create } from "@bufbuild/protobuf";
import type { Moment } from "@ringwall/actor";
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

/** A page is written once nothing on it has changed for this long. */
export const REST_MS = 250;

/** A page that changes all the time is written this long after its first change. */
const PATIENCE_MS = 2000;

/** A page is not written again within this time. */
const PAUSE_MS = 900;

const PURGE = { "KV-Operation": "PURGE", "Nats-Rollup": "sub" };

interface Page {
  readonly sessions: (Session | undefined)[];
  used: number;
  dirty: boolean;
  /** Monotonic times of the first and the last change since it was written. */
  dirtyMs: number;
  touchedMs: number;
  writing: boolean;
  writtenMs: number;
}

/**
 * This gateway's part of STATUS: pages of up to 256 workloads. A page is written when its changes
 * have come to rest, so that a change that concerns everybody is not told page by page while it goes
 * out, and only one write of a page is under way at a time.
 */
export class Pages {
  readonly #out: Outbox;
  readonly #names: Names;
  readonly #gateway: string;
  readonly #head: (session: Session) => HeadView;
  readonly #bytes: StatusBytes;
  readonly #pages: Page[] = [];
  readonly #free: number[] = [];
  #dirty = false;
  #nowMs = 0;

  constructor(out: Outbox, names: Names, gateway: string, head: (session: Session) => HeadView) {
    this.#out = out;
    this.#names = names;
    this.#gateway = gateway;
    this.#head = head;
    this.#bytes = new StatusBytes(gateway);
  }

  /** Sets the time of this step. */
  at({ monotonicMs }: Moment): void {
    this.#nowMs = monotonicMs;
  }

  /** Lists a session. */
  add(session: Session): void {
    const slot = this.#free.pop() ?? this.#grow();
    const page = this.#pages[Math.floor(slot / PAGE_SIZE)];
    if (page !== undefined) {
      page.sessions[slot % PAGE_SIZE] = session;
      page.used += 1;
      this.#soil(page);
      session.slot = slot;
    }
  }

  /** Lists a session no more. */
  remove(session: Session): void {
    const page = this.#pageOf(session);
    if (page !== undefined) {
      page.sessions[session.slot % PAGE_SIZE] = undefined;
      page.used -= 1;
      this.#soil(page);
      this.#free.push(session.slot);
      session.slot = -1;
    }
  }

  /** A session's state is another one. */
  touch(session: Session): void {
    const page = this.#pageOf(session);
    if (page !== undefined) {
      this.#soil(page);
    }
  }

  /** STATUS was lost: every page is written again. */
  touchAll(): void {
    for (const page of this.#pages) {
      this.#soil(page);
      page.writing = false;
    }
  }

  /** True if some page waits to be written. */
  get dirty(): boolean {
    return this.#dirty;
  }

  /** Writes pages that are at rest or due, a few per call; true if more could be written now. */
  write(nowMs: number, nowUnixMs: number): boolean {
    let budget = PAGES_PER_TURN;
    this.#dirty = false;
    for (const [index, page] of this.#pages.entries()) {
      if (!page.writing && isDue(page, nowMs)) {
        if (budget === 0) {
          this.#dirty = true;
          return true;
        }
        budget -= 1;
        this.#writePage(index, page, nowMs, nowUnixMs);
      }
      this.#dirty ||= page.dirty;
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
      if (!stored) {
        this.#soil(page);
      }
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

  #soil(page: Page): void {
    this.#dirty = true;
    page.touchedMs = this.#nowMs;
    if (!page.dirty) {
      page.dirty = true;
      page.dirtyMs = this.#nowMs;
    }
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
      dirtyMs: 0,
      touchedMs: 0,
      writing: false,
      writtenMs: Number.NEGATIVE_INFINITY,
    });
    for (let slot = first + PAGE_SIZE - 1; slot > first; slot -= 1) {
      this.#free.push(slot);
    }
    return first;
  }
}

function isDue(page: Page, nowMs: number): boolean {
  if (!page.dirty) {
    return page.used > 0 && nowMs - page.writtenMs >= REFRESH_MS;
  }
  const isAtRest = nowMs - page.touchedMs >= REST_MS && nowMs - page.writtenMs >= PAUSE_MS;
  return isAtRest || nowMs - page.dirtyMs >= PATIENCE_MS;
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
