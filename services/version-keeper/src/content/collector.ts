import { fromBinary } from "@bufbuild/protobuf";
import {
  ask,
  EffectFailed,
  parallel,
  readLast,
  type StoredRecord,
  signalled,
  slice,
  type Task,
} from "@ringwall/actor";
import { type VersionBatch, VersionRecordSchema } from "@ringwall/wire";
import { ApiFailure } from "../api/api-failure.ts";
import { count, type KeeperContext, log } from "../context.ts";
import type { HeldWatch } from "../held/held-watch.ts";
import type { StreamSweep } from "../log/stream-sweep.ts";
import type { VersionLog } from "../versions/version-log.ts";
import type { ContentStore } from "./content-store.ts";
import { KeptBodies } from "./kept-bodies.ts";

const SIGNAL = "collector";

/** Reads that wait for the bus at the same time; few, since nobody waits for the collector. */
const READS_AT_ONCE = 4;

/** Heads marked in one step. */
const HEADS_PER_STEP = 20_000;

/** What the collector works with. */
export interface CollectorParts {
  readonly context: KeeperContext;
  readonly versions: VersionLog;
  readonly content: ContentStore;
  readonly sweep: StreamSweep;
  readonly held: HeldWatch;
}

interface Stored {
  readonly subjects: string[];
  youngestUnixMs: number;
}

/**
 * Deletes content that nothing needs: what was unmarked in two rounds and is older than 6 h. Marked
 * are the bodies of all heads, those of the log's last 24 h, the last 8 of each workload, and the
 * sets that they name. A mistake would delay a policy, not break it: writers put again what is missed.
 */
export class Collector {
  readonly #parts: CollectorParts;
  #task: number | undefined;
  /** Unmarked in the last round. */
  #unmarked = new Set<string>();

  constructor(parts: CollectorParts) {
    this.#parts = parts;
  }

  /** Begins to collect: this instance owns the slot. */
  start(): void {
    this.#task ??= this.#parts.context.tasks.start(this.#run(), (outcome) => {
      this.#task = undefined;
      if (!outcome.ok) {
        throw outcome.error;
      }
    });
  }

  /** Ends collecting. A new owner begins with a first round. */
  stop(): void {
    if (this.#task !== undefined) {
      this.#parts.context.tasks.drop(this.#task);
      this.#task = undefined;
      this.#unmarked = new Set();
    }
  }

  *#run(): Task<void> {
    const { context, held } = this.#parts;
    for (;;) {
      yield* signalled(SIGNAL, context.options.collectMs);
      if (held.reason !== undefined) {
        continue;
      }
      try {
        yield* this.#round();
      } catch (error) {
        if (!(error instanceof EffectFailed) && !(error instanceof ApiFailure)) {
          throw error;
        }
        log(context, "warn", `content was not collected: ${error.message}`);
      }
    }
  }

  *#round(): Task<void> {
    const { context } = this.#parts;
    const marked = yield* this.#mark();
    const stored = yield* this.#stored();
    const nowUnixMs = context.moment().wallMs;
    const unmarked = new Set<string>();
    let deleted = 0;
    for (const [digest, { subjects, youngestUnixMs }] of stored) {
      if (marked.has(digest)) {
        continue;
      }
      unmarked.add(digest);
      const old = nowUnixMs - youngestUnixMs > context.options.collectAfterMs;
      if (old && this.#unmarked.has(digest)) {
        deleted += yield* this.#delete(subjects, youngestUnixMs);
      }
    }
    this.#unmarked = unmarked;
    count(context, "ringwall_content_rounds_total");
    const fields = { stored: stored.size, unmarked: unmarked.size, deleted };
    log(context, "info", "content was collected", fields);
  }

  *#mark(): Task<ReadonlySet<string>> {
    const { context, versions, content, sweep } = this.#parts;
    const kept = new KeptBodies(context.moment().wallMs - context.options.keepBodiesMs);
    yield* sweep.versions((record) => {
      const batch = batchOf(record);
      if (batch !== undefined) {
        kept.take(batch);
      }
    });
    const heads = new Set<string>();
    let looked = 0;
    for (const partition of versions.partitions) {
      for (const { digest } of partition.heads.values()) {
        heads.add(digest);
        looked += 1;
        if (looked % HEADS_PER_STEP === 0) {
          yield* slice();
        }
      }
    }
    heads.delete("");
    const marked = new Set([...heads, ...kept.bodies()]);
    yield* parallel(context.tasks, [...marked], READS_AT_ONCE, function* (body) {
      const sets = yield* content.setsOf(body);
      if (sets === undefined && heads.has(body)) {
        // What this head needs is not known, so nothing may go.
        throw new EffectFailed("read-last", "not-found", `body ${body} of a head is missing`);
      }
      for (const set of sets ?? []) {
        marked.add(set);
      }
    });
    return marked;
  }

  *#stored(): Task<ReadonlyMap<string, Stored>> {
    const stored = new Map<string, Stored>();
    const prefix = this.#parts.context.names.content("", 0).slice(0, -2);
    yield* this.#parts.sweep.content(({ subject, timeUnixMs }) => {
      const digest = subject.slice(prefix.length, subject.lastIndexOf("."));
      const entry = stored.get(digest) ?? { subjects: [], youngestUnixMs: 0 };
      entry.subjects.push(subject);
      entry.youngestUnixMs = Math.max(entry.youngestUnixMs, timeUnixMs);
      stored.set(digest, entry);
    });
    return stored;
  }

  /** Deletes an object unless somebody has put it again meanwhile. */
  *#delete(subjects: readonly string[], youngestUnixMs: number): Task<number> {
    for (const subject of subjects) {
      const now = yield* readLast("CONTENT", subject);
      if (now !== undefined && now.timeUnixMs > youngestUnixMs) {
        return 0;
      }
    }
    for (const subject of subjects) {
      yield* ask((tag) => ({ kind: "trim", tag, stream: "CONTENT", subject, all: true }));
    }
    this.#parts.context.outbox.add({
      kind: "count",
      name: "ringwall_content_deleted_total",
      by: subjects.length,
    });
    return 1;
  }
}

function batchOf(record: StoredRecord): VersionBatch | undefined {
  try {
    const read = fromBinary(VersionRecordSchema, record.payload).record;
    return read.case === "batch" ? read.value : undefined;
  } catch {
    return undefined;
  }
}
