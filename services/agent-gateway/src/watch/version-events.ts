import { create, toBinary } from "@bufbuild/protobuf";
import type { Names } from "@ringwall/bus";
import { type WatchNext, WatchServer } from "@ringwall/bus";
import {
  AgentState,
  type VersionEvent,
  VersionEventSchema,
  type WorkloadStatus,
} from "@ringwall/wire";
import type { Bodies } from "../content/bodies.ts";
import { Deltas } from "../content/deltas.ts";
import type { Advance } from "../versions/partition.ts";

/** Events that are kept for streams that are behind. */
const KEPT = 20_000;

/** Changes of one step that are put into words. */
const WORDS = 100;

/** How long a step waits for its bodies before it is told of without words. */
const PATIENCE_MS = 5000;

interface Entry {
  readonly event: VersionEvent;
  /** Bodies that its words need; empty digests once it is complete. */
  fromDigest: string;
  toDigest: string;
  readonly sinceMs: number;
}

/** Where a stream stands and what it wants. */
export interface VersionCursor {
  next: number;
  begun: boolean;
  /** Ids; empty means any. */
  readonly ids: ReadonlySet<string>;
}

/** Steps and acknowledgements for people who watch: kept only while somebody does. */
export class VersionEvents {
  readonly #deltas: Deltas;
  readonly #bodies: Bodies;
  readonly server: WatchServer<VersionCursor>;
  #entries: Entry[] = [];
  readonly #peerAcks = new Map<string, string>();
  #first = 0;
  #sequence = 0;

  constructor(names: Names, instance: string, deltas: Deltas, bodies: Bodies) {
    this.#deltas = deltas;
    this.#bodies = bodies;
    this.server = new WatchServer({
      names,
      instance,
      noun: "version",
      next: (cursor, maxBytes) => this.#next(cursor, maxBytes),
    });
  }

  /** True if somebody watches. */
  get watched(): boolean {
    return this.server.size > 0;
  }

  /** A stream that begins with what comes next. */
  cursor(ids: readonly string[]): VersionCursor {
    return { next: this.#first + this.#entries.length, begun: false, ids: new Set(ids) };
  }

  /** The sequence in VERSIONS that has been read. */
  reached(sequence: number): void {
    this.#sequence = Math.max(this.#sequence, sequence);
  }

  /** A workload took a step. */
  step(advance: Advance, epoch: bigint, nowMs: number, nowUnixMs: number): void {
    this.#add(
      {
        workload: advance.workload,
        epoch,
        fromVersion: BigInt(advance.fromVersion),
        toVersion: BigInt(advance.toVersion),
        timeUnixMs: BigInt(Math.trunc(nowUnixMs)),
      },
      advance.fromDigest,
      advance.toDigest,
      nowMs,
    );
  }

  /** An agent acknowledged a version. */
  ack(
    workload: string,
    at: { readonly epoch: bigint; readonly version: bigint },
    ack: string,
    detail: string,
    nowMs: number,
    nowUnixMs: number,
  ): void {
    this.#add(
      {
        workload,
        epoch: at.epoch,
        toVersion: at.version,
        ack,
        changes: detail === "" ? [] : [detail],
        timeUnixMs: BigInt(Math.trunc(nowUnixMs)),
      },
      "",
      "",
      nowMs,
    );
  }

  /** Another gateway's page lists what a workload acknowledged; only what is new is told. */
  peerAck(status: WorkloadStatus, nowMs: number, nowUnixMs: number): void {
    const refused = status.state === AgentState.DEGRADED;
    const told = `${status.ackedVersion} ${refused}`;
    const former = this.#peerAcks.get(status.workload);
    this.#peerAcks.set(status.workload, told);
    if (former !== undefined && former !== told) {
      const at = { epoch: status.epoch, version: status.ackedVersion };
      const word = refused ? "REFUSED" : "APPLIED";
      this.ack(status.workload, at, word, status.detail, nowMs, nowUnixMs);
    }
  }

  /** Puts into words what can be; true if an event became complete. */
  complete(nowMs: number): boolean {
    let progress = false;
    for (const entry of this.#entries) {
      if (entry.toDigest !== "") {
        progress = this.#describe(entry, nowMs) || progress;
      }
    }
    return progress;
  }

  /** Nobody watches: nothing is kept. */
  clear(): void {
    if (this.#entries.length > 0) {
      this.#first += this.#entries.length;
      this.#entries = [];
    }
    this.#peerAcks.clear();
  }

  #add(
    init: Partial<Omit<VersionEvent, "$typeName">>,
    fromDigest: string,
    toDigest: string,
    nowMs: number,
  ): void {
    const event = create(VersionEventSchema, init);
    const entry = { event, fromDigest, toDigest, sinceMs: nowMs };
    if (toDigest !== "") {
      this.#describe(entry, nowMs);
    }
    this.#entries.push(entry);
    if (this.#entries.length > KEPT) {
      const gone = this.#entries.length - KEPT / 2;
      this.#entries = this.#entries.slice(gone);
      this.#first += gone;
    }
  }

  #describe(entry: Entry, nowMs: number): boolean {
    const { event } = entry;
    const words = this.#words(entry.fromDigest, entry.toDigest);
    if (words === undefined && nowMs - entry.sinceMs < PATIENCE_MS) {
      return false;
    }
    event.changes = [...(words ?? ["its changes can't be read at the moment"])];
    event.mode = this.#bodies.modeOf(entry.toDigest);
    entry.fromDigest = "";
    entry.toDigest = "";
    return true;
  }

  #words(fromDigest: string, toDigest: string): readonly string[] | undefined {
    if (fromDigest === toDigest) {
      return [];
    }
    if (fromDigest === "") {
      const body = this.#bodies.get(toDigest);
      return body === undefined
        ? undefined
        : [`first policy: ${body.policy.inboundRules.length} rules`];
    }
    const shared = this.#deltas.between(fromDigest, toDigest);
    return shared === undefined ? undefined : Deltas.words(shared, WORDS);
  }

  #next(cursor: VersionCursor, maxBytes: number): WatchNext | undefined {
    const revision = BigInt(this.#sequence);
    if (!cursor.begun) {
      cursor.begun = true;
      return { body: { case: "endOfSnapshot", value: true }, revision };
    }
    if (cursor.next < this.#first) {
      return { body: { case: "resync", value: true }, revision };
    }
    const events: VersionEvent[] = [];
    let bytes = 0;
    while (bytes < maxBytes) {
      const entry = this.#entries[cursor.next - this.#first];
      if (entry === undefined || entry.toDigest !== "") {
        break;
      }
      cursor.next += 1;
      if (cursor.ids.size === 0 || cursor.ids.has(entry.event.workload)) {
        const size = toBinary(VersionEventSchema, entry.event).length + 8;
        if (bytes > 0 && bytes + size > maxBytes) {
          cursor.next -= 1;
          break;
        }
        bytes += size;
        events.push(entry.event);
      }
    }
    return events.length === 0
      ? undefined
      : { body: { case: "versions", value: { events } }, revision };
  }
}
