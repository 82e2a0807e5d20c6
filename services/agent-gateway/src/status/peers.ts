import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { AgentState, StatusPageSchema, type WorkloadStatus } from "@ringwall/wire";
import { NO_DIGESTS } from "../session/session.ts";
import { toHex } from "../wire/hex.ts";

/** A page that is not written again for this long belongs to a gateway that is gone. */
const DEAD_PAGE_MS = 24 * 3600 * 1000;

/** What another gateway says of a workload, as far as it is needed all the time. */
export interface PeerEntry {
  readonly page: string;
  readonly session: number;
  readonly parked: readonly string[];
  readonly state: AgentState;
  /** Empty if synced. */
  readonly detail: string;
  readonly ackedVersion: number;
  /** How long the agent had been silent when the page was written. */
  readonly silentMs: number;
}

interface PeerPage {
  readonly payload: Uint8Array;
  readonly ids: readonly string[];
  /** Monotonic time at which the page was written, as far as this process can tell. */
  readonly writtenMs: number;
  /** Decoded while it is asked for again and again. */
  decoded: ReadonlyMap<string, WorkloadStatus> | undefined;
}

/**
 * What the other gateways wrote into STATUS. Pages stay encoded; per workload only what its state is
 * judged by is kept at hand.
 */
export class Peers {
  readonly #prefix: string;
  readonly #gateway: string;
  readonly #listed: (gateway: string) => void;
  readonly #pages = new Map<string, PeerPage>();
  readonly #entries = new Map<string, PeerEntry>();

  /**
   * `prefix` is what the subjects of STATUS begin with; this gateway's own pages are left out.
   * `listed` is told of every other gateway that lists somebody.
   */
  constructor(prefix: string, gateway: string, listed: (gateway: string) => void) {
    this.#prefix = prefix;
    this.#gateway = gateway;
    this.#listed = listed;
  }

  /** Workloads that other gateways list, with what they say. */
  get entries(): ReadonlyMap<string, PeerEntry> {
    return this.#entries;
  }

  /** Workloads that one gateway lists and that no other one took since. */
  *entriesOf(gateway: string): Iterable<readonly [string, PeerEntry]> {
    for (const [key, page] of this.#pages) {
      if (key.startsWith(`${gateway}.`)) {
        for (const id of page.ids) {
          const entry = this.#entries.get(id);
          if (entry?.page === key) {
            yield [id, entry];
          }
        }
      }
    }
  }

  /** Takes a record of STATUS; what it says, if it is another gateway's page. */
  take(
    record: StoredRecord,
    nowMs: number,
    nowUnixMs: number,
  ): readonly WorkloadStatus[] | undefined {
    const key = record.subject.slice(this.#prefix.length);
    const [gateway = "", page = ""] = key.split(".");
    if (gateway === this.#gateway || page === "") {
      return undefined;
    }
    this.#drop(key);
    if (record.payload.length === 0) {
      return undefined;
    }
    const read = readPage(record.payload);
    if (read === undefined) {
      return undefined;
    }
    this.#listed(gateway);
    const ids: string[] = [];
    for (const status of read.workloads) {
      const session = Number(status.session);
      if ((this.#entries.get(status.workload)?.session ?? -1) <= session) {
        this.#entries.set(status.workload, entryOf(key, status, read.seenUnixMs));
        ids.push(status.workload);
      }
    }
    const ageMs = Math.max(0, nowUnixMs - record.timeUnixMs);
    const payload = new Uint8Array(record.payload);
    this.#pages.set(key, { payload, ids, writtenMs: nowMs - ageMs, decoded: undefined });
    return read.workloads;
  }

  /** Highest session of a workload that another gateway had; 0 if none. */
  sessionOf(workload: string): number {
    return this.#entries.get(workload)?.session ?? 0;
  }

  /** Bodies that a workload's host refused, by another gateway's word. */
  parkedOf(workload: string): readonly string[] {
    return this.#entries.get(workload)?.parked ?? NO_DIGESTS;
  }

  /** Time since the workload's agent was heard of by its gateway. */
  silentMs(entry: PeerEntry, nowMs: number): number {
    const page = this.#pages.get(entry.page);
    return page === undefined ? Number.POSITIVE_INFINITY : entry.silentMs + nowMs - page.writtenMs;
  }

  /** All that another gateway says of a workload. */
  status(workload: string): WorkloadStatus | undefined {
    const page = this.#pages.get(this.#entries.get(workload)?.page ?? "");
    if (page === undefined) {
      return undefined;
    }
    page.decoded ??= new Map(
      readPage(page.payload)?.workloads.map((status) => [status.workload, status]),
    );
    return page.decoded.get(workload);
  }

  /** Keeps no page decoded any longer. */
  relax(): void {
    for (const page of this.#pages.values()) {
      page.decoded = undefined;
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

function readPage(payload: Uint8Array) {
  try {
    return fromBinary(StatusPageSchema, payload);
  } catch {
    return undefined;
  }
}

function entryOf(page: string, status: WorkloadStatus, seenUnixMs: bigint): PeerEntry {
  return {
    page,
    session: Number(status.session),
    parked: status.parkedDigests.length === 0 ? NO_DIGESTS : status.parkedDigests.map(toHex),
    state: status.state,
    detail: status.state === AgentState.SYNCED ? "" : status.detail,
    ackedVersion: Number(status.ackedVersion),
    silentMs: Number(seenUnixMs - status.seenUnixMs),
  };
}
