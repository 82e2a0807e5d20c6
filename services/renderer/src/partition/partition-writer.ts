import { fromBinary } from "@bufbuild/protobuf";
import {
  ask,
  childTrace,
  EffectFailed,
  type Joined,
  pause,
  readLast,
  signalled,
  type Task,
  TraceJoin,
} from "@ringwall/actor";
import { HEADER } from "@ringwall/bus";
import type { Engine, Head } from "@ringwall/render";
import { type Inputs, type RenderBatch, RenderBatchSchema } from "@ringwall/wire";
import type { ContentStore } from "../content-store.ts";
import { type Context, toHex } from "../context.ts";
import { isBelow } from "../inputs.ts";
import type { RegistryFeed } from "../registry/registry-feed.ts";
import type { Heads } from "./heads.ts";
import { type Marks, requestMarks } from "./marks.ts";
import { type BatchContent, encodeBatch } from "./render-batches.ts";

/** What a partition's writer shares with the others. */
export interface PartitionHost {
  readonly context: Context;
  readonly source: Engine;
  readonly heads: Heads;
  readonly marks: Marks;
  readonly registry: RegistryFeed;
  readonly content: ContentStore;
  /** Why nothing may be emitted now; undefined if it may. */
  readonly heldReason: () => string | undefined;
  /** Hears of inputs that the log names. */
  readonly claimed: (subject: string, inputs: Inputs) => Task<void>;
}

/** Where a writer stands in its partition's log. */
interface Position {
  /** Sequence of the subject's last message, 0 if there is none: the fence. */
  sequence: number;
  /** Inputs of that message. */
  inputs: Inputs | undefined;
  /** What the log says of each workload; undefined until a full batch of its own went out. */
  emitted: Map<string, string> | undefined;
}

/**
 * Emits one partition while this instance owns it. It reads where the log stands, sends one full batch
 * as soon as its own inputs are below the log's in neither component, and then what each window
 * changed. One append is in flight at a time; whatever comes meanwhile goes with the next batch.
 * Anything unexpected drops the position and begins anew.
 */
export class PartitionWriter {
  readonly #host: PartitionHost;
  readonly #partition: number;
  readonly #signal: string;
  readonly #dirty = new Set<string>();
  /** Traces of the renders that have not gone out. */
  readonly #traces = new TraceJoin();
  #moveInputs = false;
  #wantFull = false;
  #task: number | undefined;

  constructor(host: PartitionHost, partition: number) {
    this.#host = host;
    this.#partition = partition;
    this.#signal = `partition.${partition}`;
  }

  /** Begins to emit. */
  open(): void {
    this.#task ??= this.#host.context.tasks.start(this.#run());
  }

  /** Ends without finishing anything; the fence makes that safe. */
  close(): void {
    if (this.#task !== undefined) {
      this.#host.context.tasks.drop(this.#task);
      this.#task = undefined;
      this.#dirty.clear();
      this.#traces.take();
      this.#moveInputs = false;
      this.#wantFull = false;
    }
  }

  /** Takes what a flush changed; `moveInputs` asks for a batch even if that is nothing. */
  changed(workloads: ReadonlySet<string>, moveInputs: boolean, trace?: string): void {
    if (this.#task === undefined) {
      return;
    }
    for (const id of workloads) {
      this.#dirty.add(id);
    }
    if (moveInputs || workloads.size > 0) {
      this.#traces.add(trace, this.#host.context.moment().wallMs);
    }
    this.#moveInputs ||= moveInputs;
    this.look();
  }

  /** Takes the request for a full batch. */
  wantFull(): void {
    if (this.#task !== undefined) {
      this.#wantFull = true;
      this.look();
    }
  }

  /** Looks again whether something can go out. */
  look(): void {
    this.#host.context.tasks.signal(this.#signal);
  }

  *#run(): Task<void> {
    const { context } = this.#host;
    for (;;) {
      try {
        yield* this.#emitFrom(yield* this.#load());
      } catch (error) {
        if (!(error instanceof EffectFailed)) {
          throw error;
        }
        const lost = error.code === "fence-lost";
        context.outbox.count("ringwall_render_reloads_total", { reason: error.code });
        context.outbox.log(lost ? "info" : "warn", `partition reloads: ${error.message}`, {
          partition: this.#partition,
        });
      }
      // Two instances that both believe to own it must not chase each other.
      yield* pause(context.options.retryMs * (0.5 + context.moment().random()));
    }
  }

  *#load(): Task<Position> {
    const { context, claimed } = this.#host;
    const subject = context.names.rendered(this.#partition);
    const record = yield* readLast("RENDERED", subject);
    const batch = record === undefined ? undefined : decode(record.payload);
    if (batch?.inputs !== undefined) {
      yield* claimed(subject, batch.inputs);
    }
    return { sequence: record?.sequence ?? 0, inputs: batch?.inputs, emitted: undefined };
  }

  *#emitFrom(position: Position): Task<never> {
    const { marks, heldReason, heads } = this.#host;
    for (;;) {
      const inputs = heads.inputs;
      const due =
        position.emitted === undefined ||
        this.#wantFull ||
        this.#moveInputs ||
        this.#dirty.size > 0;
      const wanted = marks.marks(this.#partition);
      if (inputs === undefined || heldReason() !== undefined) {
        yield* this.#wait();
      } else if (wanted.length > 0) {
        yield* this.#mark(wanted, true);
      } else if (due && this.#mayEmit(position, inputs)) {
        yield* this.#emit(position, inputs);
      } else if (!due && marks.clears(this.#partition).length > 0) {
        yield* this.#mark(marks.clears(this.#partition), false);
      } else {
        yield* this.#wait();
      }
    }
  }

  *#wait(): Task<void> {
    yield* signalled(this.#signal, 60_000);
  }

  #mayEmit(position: Position, inputs: Inputs): boolean {
    const { registry, context } = this.#host;
    if (position.inputs !== undefined && isBelow(inputs, position.inputs)) {
      return false;
    }
    // What goes out enforced names a registry that has its mark: one that lost it is not that one.
    if (inputs.registryRevision < BigInt(registry.markedAt(this.#partition))) {
      return false;
    }
    const full = position.emitted === undefined || this.#wantFull;
    // A full batch would say that a workload whose record can't be read is gone.
    const blocked = full && registry.unreadableIn(this.#partition).length > 0;
    if (blocked) {
      context.outbox.count("ringwall_render_blocked_total");
    }
    return !blocked;
  }

  /** Asks for marks, then waits until the registry shows them or it is time to ask again. */
  *#mark(workloads: readonly string[], enforced: boolean): Task<void> {
    const { context } = this.#host;
    try {
      const marks = { workloads, enforced, trace: this.#traces.newest };
      const problem = yield* requestMarks(context.names, this.#partition, marks);
      if (problem !== undefined) {
        context.outbox.log("warn", `marks are not stored: ${problem}`, {
          partition: this.#partition,
        });
      }
    } catch (error) {
      if (!(error instanceof EffectFailed)) {
        throw error;
      }
      context.outbox.count("ringwall_mark_failures_total", { reason: error.code });
    }
    const { marks } = this.#host;
    const still = () =>
      (enforced ? marks.marks(this.#partition) : marks.clears(this.#partition)).length > 0;
    if (still()) {
      yield* signalled(this.#signal, context.options.retryMs);
    }
  }

  *#emit(position: Position, inputs: Inputs): Task<void> {
    const { context, content } = this.#host;
    const full = position.emitted === undefined || this.#wantFull;
    // Should the batch fail, the position is dropped with what it says of the log.
    const emitted = full ? new Map<string, string>() : (position.emitted ?? new Map());
    const batch = this.#assemble(inputs, full, emitted);
    const objects = this.#objectsOf(batch);
    const beganMs = context.moment().monotonicMs;
    const moves = this.#moveInputs && inputs !== position.inputs;
    const wanted = full || moves || !isEmpty(batch);
    const joined = this.#traces.take();
    this.#dirty.clear();
    this.#moveInputs = false;
    this.#wantFull = false;
    if (!wanted) {
      return;
    }
    const trace =
      joined === undefined ? undefined : childTrace(joined.parent, context.moment().random);
    yield* content.ensure(objects);
    for (const payload of encodeBatch(batch)) {
      position.sequence = yield* this.#append(position.sequence, payload, trace);
    }
    position.inputs = inputs;
    position.emitted = emitted;
    if (joined !== undefined && trace !== undefined) {
      this.#span(joined, trace, batch);
    }
    context.outbox.count("ringwall_render_batches_total", { kind: full ? "full" : "delta" });
    context.outbox.add({
      kind: "observe",
      name: "ringwall_render_emit_seconds",
      value: (context.moment().monotonicMs - beganMs) / 1000,
    });
  }

  #span({ parent, links, sinceUnixMs }: Joined, trace: string, batch: BatchContent): void {
    const { outbox, moment } = this.#host.context;
    outbox.add({
      kind: "span",
      name: "emit",
      trace,
      parent,
      links,
      startUnixMs: sinceUnixMs,
      endUnixMs: moment().wallMs,
      attributes: {
        "ringwall.partition": this.#partition,
        "ringwall.commit": toHex(batch.inputs.commitId),
        "ringwall.bodies": batch.set.size,
        "ringwall.full": batch.full,
      },
    });
  }

  /** What a batch has to say beyond what the log says; `emitted` then says the same. */
  #assemble(inputs: Inputs, full: boolean, emitted: Map<string, string>): BatchContent {
    const heads = this.#host.heads.of(this.#partition);
    const set = new Map<string, string[]>();
    const refused = new Map<string, string>();
    const removed: string[] = [];
    for (const id of full ? heads.keys() : this.#dirty) {
      const head = heads.get(id);
      if (head === undefined) {
        if (emitted.delete(id)) {
          removed.push(id);
        }
        continue;
      }
      const said = textOf(head);
      if (emitted.get(id) === said) {
        continue;
      }
      emitted.set(id, said);
      if (head.kind === "refused") {
        refused.set(id, head.reason);
        continue;
      }
      const workloads = set.get(head.digest);
      if (workloads === undefined) {
        set.set(head.digest, [id]);
      } else {
        workloads.push(id);
      }
    }
    return { inputs, full, set, removed, refused };
  }

  /**
   * Bytes of everything that a batch names and that is not stored, taken now: a later flush may let
   * go of them. A body of many workloads is asked for by many partitions: it is encoded once.
   */
  #objectsOf(batch: BatchContent): Map<string, Uint8Array> {
    const { source, content } = this.#host;
    const objects = new Map<string, Uint8Array>();
    for (const body of batch.set.keys()) {
      for (const digest of source.objectsOf(body)) {
        if (objects.has(digest) || content.isFresh(digest)) {
          continue;
        }
        const bytes = content.pending(digest) ?? source.object(digest);
        if (bytes !== undefined) {
          objects.set(digest, bytes);
        }
      }
    }
    return objects;
  }

  *#append(sequence: number, payload: Uint8Array, trace: string | undefined): Task<number> {
    const { context } = this.#host;
    const answer = yield* ask((tag) => ({
      kind: "append",
      tag,
      stream: "RENDERED",
      subject: context.names.rendered(this.#partition),
      payload,
      headers: { [HEADER.type]: "RenderBatch" },
      expect: { sequence },
      write: context.writeId(),
      ...(trace === undefined ? {} : { trace }),
    }));
    if (answer.kind !== "appended") {
      throw new TypeError(`append was answered by ${answer.kind}`);
    }
    return answer.sequence;
  }
}

function isEmpty({ set, removed, refused }: BatchContent): boolean {
  return set.size === 0 && removed.length === 0 && refused.size === 0;
}

function textOf(head: Head): string {
  return head.kind === "body" ? head.digest : `refused ${head.reason}`;
}

function decode(payload: Uint8Array): RenderBatch | undefined {
  try {
    return fromBinary(RenderBatchSchema, payload);
  } catch {
    // Whatever stands there is fenced off by its sequence; a full batch follows it.
    return undefined;
  }
}
