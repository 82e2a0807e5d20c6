import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { StatusPageSchema, type WorkloadStatus } from "@ringwall/wire";
import { NO_DIGESTS } from "../session/session.ts";
import { toHex } from "../wire/hex.ts";

/** A page that is not written again for this long belongs to a gateway that is gone. */
const DEAD_PAGE_MS = 24 * 3600 * 1000;

/** What other gateways say of a workload, as far as it is needed all the time. */
interface Entry {
  readonly page: string;
  readonly session: number;
  readonly parked: readonly string[];
}

interface PeerPage {
  readonly payload: Uint8Array;
  readonly ids: readonly string[];
  /** Monotonic time at which the page was written, as far as this process can tell. */
  readonly writtenMs: number;
}

/** What a page changed, for those who watch acknowledgements. */
export interface PageChange {
  readonly workloads: readonly WorkloadStatus[];
}

/**
 * What the other gateways wrote into STATUS. Pages stay encoded; per workload only the session and
 * the parked bodies are kept at hand.
 */
export class Peers {
  readonly #prefix: string;
  readonly #gateway: string;
  readonly #pages = new Map<string, PeerPage>();
  readonly #entries = new Map<string, Entry>();

  /** `prefix` is what the subjects of STATUS begin with; this gateway's own pages are left out. */
  constructor(prefix: string, gateway: string) {
    this.#prefix = prefix;
    this.#gateway = gateway;
  }

  /** Takes a record of STATUS; what it says, if it is another gateway's page. */
  take(record: StoredRecord, nowMs: number, nowUnixMs: number): PageChange | undefined {
    const key = record.subject.slice(this.#prefix.length);
    const [gateway = "", page = ""] = key.split(".");
    if (gateway === this.#gateway || page === "") {
      return undefined;
    }
    this.#drop(key);
    if (record.payload.length === 0) {
      return undefined;
    }
    let workloads: readonly WorkloadStatus[];
    try {
      ({ workloads } = fromBinary(StatusPageSchema, record.payload));
    } catch {
      return undefined;
    }
    const ageMs = Math.max(0, nowUnixMs - record.timeUnixMs);
    const ids: string[] = [];
    for (const status of workloads) {
      const session = Number(status.session);
      if ((this.#entries.get(status.workload)?.session ?? -1) <= session) {
        const parked =
          status.parkedDigests.length === 0 ? NO_DIGESTS : status.parkedDigests.map(toHex);
        this.#entries.set(status.workload, { page: key, session, parked });
        ids.push(status.workload);
      }
    }
    const payload = new Uint8Array(record.payload);
    this.#pages.set(key, { payload, ids, writtenMs: nowMs - ageMs });
    return { workloads };
  }

  /** Highest session of a workload that another gateway had; 0 if none. */
  sessionOf(workload: string): number {
    return this.#entries.get(workload)?.session ?? 0;
  }

  /** Bodies that a workload's host refused, by another gateway's word. */
  parkedOf(workload: string): readonly string[] {
    return this.#entries.get(workload)?.parked ?? NO_DIGESTS;
  }

  /** Statuses of other gateways' newest sessions, with the time since each agent was heard of. */
  *statuses(
    nowMs: number,
  ): Iterable<{ readonly status: WorkloadStatus; readonly silentMs: number }> {
    for (const [key, page] of this.#pages) {
      const { workloads, seenUnixMs } = fromBinary(StatusPageSchema, page.payload);
      for (const status of workloads) {
        if (this.#entries.get(status.workload)?.page === key) {
          const silentMs = Number(seenUnixMs - status.seenUnixMs) + (nowMs - page.writtenMs);
          yield { status, silentMs };
        }
      }
    }
  }

  /** Subjects of pages whose gateways are long gone. */
  dead(nowMs: number): readonly string[] {
    return [...this.#pages]
      .filter(([, page]) => nowMs - page.writtenMs > DEAD_PAGE_MS)
      .map(([key]) => `${this.#prefix}${key}`);
  }

  /** Forgets everything: the bucket is another one. */
  clear(): void {
    this.#pages.clear();
    this.#entries.clear();
  }

  #drop(key: string): void {
    for (const id of this.#pages.get(key)?.ids ?? []) {
      if (this.#entries.get(id)?.page === key) {
        this.#entries.delete(id);
      }
    }
    this.#pages.delete(key);
  }
}
