import { create } from "@bufbuild/protobuf";
import type { WatchNext } from "@ringwall/bus";
import { WorkloadChangesSchema, type WorkloadRecord } from "@ringwall/wire";
import type { Filterable } from "../former-states.ts";
import type { Registry } from "../registry.ts";
import { firstAfter } from "../sorted-ids.ts";
import type { StoredWorkload } from "../stored-workload.ts";
import { candidates } from "./candidates.ts";
import { ToldIds } from "./told-ids.ts";
import { type CompiledFilter, inFilter } from "./workload-filter.ts";

/** Workloads that are looked at for one frame at most, so that a step stays short. */
const LOOKED_AT_PER_FRAME = 10_000;

/** Bytes of a frame that are kept for what is around its workloads. */
const FRAME_MARGIN = 4_096;

/** Bytes of tag and length around an entry of a frame. */
const ENTRY_MARGIN = 8;

/** Where a client stands when it opens a stream. */
export interface WatchStart {
  readonly filter: CompiledFilter;
  /** Revision that the client has; 0 starts with a snapshot. */
  readonly resumeRevision: number;
  /** Filter that the client had up to there, if it was another. */
  readonly resumeFilter: CompiledFilter | undefined;
  /** Monotonic time until which a revision that the fold has not reached is waited for. */
  readonly untilMs: number;
}

/**
 * What a stream does next:
 * - `start`: picks what a scan has to look at, once the fold has what the client has;
 * - `scan`: goes through all workloads in order of their ids and sends those of the filter; where
 *   the client had another filter, only what differs;
 * - `end`: sends what changed meanwhile, then says that the scan is complete;
 * - `follow`: sends changes after `position`.
 */
type Phase =
  | { readonly kind: "start"; readonly former: CompiledFilter | undefined }
  | {
      readonly kind: "scan";
      readonly former: CompiledFilter | undefined;
      /** What has to be looked at, in order; undefined means every workload. */
      readonly ids: readonly string[] | undefined;
      /** The last one that was looked at. */
      after: string;
    }
  | { readonly kind: "end" | "follow" };

/** One client's place in the registry: what it was told, and from where it goes on. */
export class WatchCursor {
  readonly #registry: Registry;
  readonly #life: number;
  readonly #filter: CompiledFilter;
  readonly #told: ToldIds;
  readonly #untilMs: number;
  /** Where the log is read on. */
  #position: number;
  /**
   * Revision whose state the client has, and where it goes on if it breaks off: of each workload it
   * may have a later state. 0 until a snapshot is complete.
   */
  #settled: number;
  #phase: Phase;
  /** Revision and filter that the client had when it opened the stream. */
  readonly #resumed: number;
  readonly #mayHaveBeenIn: (state: Filterable) => boolean;

  constructor(registry: Registry, start: WatchStart) {
    const { filter, resumeRevision, resumeFilter, untilMs } = start;
    this.#registry = registry;
    this.#life = registry.life;
    this.#filter = filter;
    this.#untilMs = untilMs;
    const snapshot = resumeRevision === 0;
    this.#resumed = resumeRevision;
    const formerFilter = resumeFilter ?? filter;
    this.#mayHaveBeenIn = (state) => inFilter(filter, state) || inFilter(formerFilter, state);
    this.#told = new ToldIds(snapshot ? "lacks" : "unknown");
    this.#position = snapshot ? registry.revision : resumeRevision;
    this.#settled = resumeRevision;
    const former = snapshot || resumeFilter?.key === filter.key ? undefined : resumeFilter;
    this.#phase = snapshot || former !== undefined ? { kind: "start", former } : { kind: "follow" };
  }

  /** The next frame; undefined when the client has everything. */
  next(maxBytes: number, nowMs: number): WatchNext | undefined {
    const { revision, life } = this.#registry;
    if (life !== this.#life || (this.#position > revision && nowMs > this.#untilMs)) {
      return RESYNC;
    }
    if (this.#position > revision) {
      return undefined;
    }
    switch (this.#phase.kind) {
      case "start":
        return this.#start(this.#phase.former, new Frame(maxBytes - FRAME_MARGIN));
      case "scan":
        return this.#scan(this.#phase, new Frame(maxBytes - FRAME_MARGIN));
      case "end":
        return this.#end(new Frame(maxBytes - FRAME_MARGIN));
      case "follow":
        return this.#follow(new Frame(maxBytes - FRAME_MARGIN));
      default:
        return this.#phase satisfies never;
    }
  }

  #start(former: CompiledFilter | undefined, frame: Frame): WatchNext {
    const ids = toScan(this.#registry, this.#filter, former);
    const phase = { kind: "scan" as const, former, ids, after: "" };
    this.#phase = phase;
    return this.#scan(phase, frame);
  }

  #scan(phase: Phase & { readonly kind: "scan" }, frame: Frame): WatchNext {
    const all = phase.ids ?? this.#registry.indexes.ids.all();
    const start = firstAfter(all, phase.after);
    let index = start;
    for (; index < all.length && index - start < LOOKED_AT_PER_FRAME; index += 1) {
      const stored = this.#registry.get(all[index] ?? "");
      if (stored !== undefined && !this.#scanOne(stored, phase.former, frame)) {
        break;
      }
      phase.after = all[index] ?? "";
    }
    if (index >= all.length) {
      this.#phase = { kind: "end" };
    }
    return frame.next(this.#settled);
  }

  /** False if the frame has no room for it. */
  #scanOne(stored: StoredWorkload, former: CompiledFilter | undefined, frame: Frame): boolean {
    const { record } = stored;
    const isIn = inFilter(this.#filter, record);
    const wasIn = former !== undefined && inFilter(former, record);
    if (isIn === wasIn) {
      return true;
    }
    return isIn ? this.#tell(stored, frame) : this.#remove(record.id, frame);
  }

  /** The next changes; undefined when there are none and the position is the registry's. */
  #follow(frame: Frame): WatchNext | undefined {
    const changes = this.#registry.indexes.log.since(this.#position);
    if (changes === undefined) {
      return RESYNC;
    }
    let looked = 0;
    for (const { id, sequence } of changes) {
      if (looked === LOOKED_AT_PER_FRAME || !this.#followOne(id, frame)) {
        return frame.next(this.#settled);
      }
      looked += 1;
      this.#position = sequence;
    }
    this.#position = this.#registry.revision;
    if (this.#phase.kind === "follow") {
      this.#settled = this.#position;
    }
    return frame.empty ? undefined : frame.next(this.#settled);
  }

  /** What changed while it was scanned, then the end. */
  #end(frame: Frame): WatchNext {
    const missed = this.#follow(frame);
    if (missed !== undefined) {
      return missed;
    }
    this.#phase = { kind: "follow" };
    this.#settled = this.#position;
    return { body: { case: "endOfSnapshot", value: true }, revision: BigInt(this.#settled) };
  }

  /** False if the frame has no room for it. */
  #followOne(id: string, frame: Frame): boolean {
    const stored = this.#registry.get(id);
    if (stored !== undefined && inFilter(this.#filter, stored.record)) {
      return this.#tell(stored, frame);
    }
    const number = this.#registry.indexes.numbers.of(id);
    const told = this.#told.of(number);
    if (told === "has" || (told === "unknown" && this.#mayHave(id))) {
      return this.#remove(id, frame);
    }
    return true;
  }

  /** False if the client surely does not have a workload that is out of its filter now. */
  #mayHave(id: string): boolean {
    // It has what it had at its revision, or some of what came since and before it broke off.
    const { former } = this.#registry.indexes;
    return former.some(id, this.#resumed, this.#mayHaveBeenIn) ?? true;
  }

  #tell(stored: StoredWorkload, frame: Frame): boolean {
    const fits = frame.upsert(stored.served, stored.bytes);
    if (fits) {
      this.#told.told(this.#registry.indexes.numbers.of(stored.record.id));
    }
    return fits;
  }

  #remove(id: string, frame: Frame): boolean {
    const fits = frame.remove(id);
    if (fits) {
      this.#told.untold(this.#registry.indexes.numbers.of(id));
    }
    return fits;
  }
}

/** What a scan has to look at: the candidates of both filters. */
function toScan(
  registry: Registry,
  filter: CompiledFilter,
  former: CompiledFilter | undefined,
): readonly string[] | undefined {
  const ids = candidates(registry, filter);
  if (former === undefined || ids === undefined) {
    return ids;
  }
  const before = candidates(registry, former);
  return before === undefined ? undefined : [...new Set([...ids, ...before])].sort();
}

const RESYNC: WatchNext = { body: { case: "resync", value: true }, revision: 0n };

/** A frame while it is filled. */
class Frame {
  readonly #upserts: WorkloadRecord[] = [];
  readonly #removes: string[] = [];
  readonly #limit: number;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get empty(): boolean {
    return this.#upserts.length === 0 && this.#removes.length === 0;
  }

  /** Adds a workload; false if it has no room. The first always has. */
  upsert(record: WorkloadRecord, bytes: number): boolean {
    return this.#take(bytes) && this.#upserts.push(record) > 0;
  }

  /** Adds a removal; false if it has no room. */
  remove(id: string): boolean {
    return this.#take(id.length) && this.#removes.push(id) > 0;
  }

  next(revision: number): WatchNext {
    const value = create(WorkloadChangesSchema, { upserts: this.#upserts, removes: this.#removes });
    return { body: { case: "workloads", value }, revision: BigInt(revision) };
  }

  #take(bytes: number): boolean {
    const size = this.#bytes + bytes + ENTRY_MARGIN;
    if (!this.empty && size > this.#limit) {
      return false;
    }
    this.#bytes = size;
    return true;
  }
}
