import { create } from "@bufbuild/protobuf";
import {
  childTrace,
  EffectFailed,
  type FollowEffect,
  type Joined,
  type Message,
  pause,
  type StoredRecord,
  signalled,
  slice,
  type Task,
  TraceJoin,
} from "@ringwall/actor";
import { PARTITIONS, partitionOf } from "@ringwall/bus";
import { type Configuration, Engine } from "@ringwall/render";
import { type Inputs, InputsSchema } from "@ringwall/wire";
import { ConfigFeed } from "./config/config-feed.ts";
import { HeadTree } from "./config/head-tree.ts";
import { ContentStore } from "./content-store.ts";
import { type Context, fromHex, toHex } from "./context.ts";
import { Debounce } from "./debounce.ts";
import { Evidence } from "./held/evidence.ts";
import { Gate } from "./held/gate.ts";
import { FOLDED_SIGNAL } from "./held/judge.ts";
import { lifeReaders } from "./life-readers.ts";
import { Heads } from "./partition/heads.ts";
import { Marks } from "./partition/marks.ts";
import { PartitionWriter } from "./partition/partition-writer.ts";
import { RegistryFeed } from "./registry/registry-feed.ts";

const WAKE = "wake";

const NOBODY: ReadonlySet<string> = new Set();

/** Age up to which content that somebody asks for is not stored again. */
const WANTED_AGE_MS = 5_000;

/**
 * One continuous life of the streams: folds CONFIG and REGISTRY from their beginning, judges whether
 * they are the ones that later records name, renders each window of changes and hands the result to
 * the writers of the owned partitions. A stream that was re-created or went back ends it.
 */
export class Life {
  readonly #context: Context;
  readonly #name: string;
  readonly #config: ConfigFeed;
  readonly #registry: RegistryFeed;
  readonly #tree: HeadTree;
  readonly #gate: Gate;
  readonly #source = new Engine();
  readonly #content: ContentStore;
  readonly #evidence = new Evidence();
  readonly #heads = new Heads();
  readonly #marks = new Marks();
  readonly #debounce: Debounce;
  readonly #writers: readonly PartitionWriter[];
  readonly #follows: readonly FollowEffect[];
  /** Readers that have not delivered yet what was stored at the start. */
  readonly #behind: Set<string>;
  #applied: Configuration | undefined;
  /** Traces of the changes that are not rendered yet. */
  readonly #traces = new TraceJoin();
  #current = false;

  constructor(context: Context, name: string) {
    this.#context = context;
    this.#name = name;
    this.#registry = new RegistryFeed(context.names);
    this.#content = new ContentStore(context);
    this.#debounce = new Debounce(context.options.quietMs, context.options.windowMs);
    this.#config = new ConfigFeed(context, name, {
      folded: (record) => this.#folded(record),
      problem: () => this.#say(),
    });
    const wake = () => context.tasks.signal(WAKE);
    this.#tree = new HeadTree(context, this.#config.fold, wake);
    this.#gate = new Gate({
      context,
      config: this.#config,
      evidence: this.#evidence,
      owners: this.#registry.claims,
      tree: () => this.#tree.state,
      isCurrent: () => this.#current,
      judged: wake,
    });
    const host = {
      context,
      source: this.#source,
      heads: this.#heads,
      marks: this.#marks,
      registry: this.#registry,
      content: this.#content,
      heldReason: () => this.#gate.reason,
      claimed: (subject: string, inputs: Inputs) => this.#gate.claimed(subject, inputs),
    };
    this.#writers = Array.from(
      { length: PARTITIONS },
      (_, each) => new PartitionWriter(host, each),
    );
    this.#follows = lifeReaders(context.names, name);
    this.#behind = new Set(this.#follows.map(({ reader }) => reader));
  }

  /** True once everything that was stored at the start is folded. */
  get isCurrent(): boolean {
    return this.#current;
  }

  /** Inputs of the last render. */
  get inputs(): Inputs | undefined {
    return this.#heads.inputs;
  }

  /** Begins to read. */
  start(): void {
    const { outbox, tasks } = this.#context;
    for (const follow of this.#follows) {
      outbox.add(follow);
    }
    tasks.start(this.#config.run());
    tasks.start(this.#run());
    this.#say();
  }

  /** Ends: readers are given up, whatever was under way is forgotten. */
  end(): void {
    for (const { reader } of this.#follows) {
      this.#context.outbox.add({ kind: "unfollow", reader });
    }
    this.#context.tasks.dropAll();
  }

  /** True if the reader is this life's. */
  reads(reader: string): boolean {
    return reader.startsWith(`${this.#name}.`);
  }

  /** Begins to emit a partition. */
  open(partition: number): void {
    this.#writers[partition]?.open();
  }

  /** Ends emitting a partition. */
  close(partition: number): void {
    this.#writers[partition]?.close();
  }

  /** A keeper asks for a full batch. */
  wantFull(partition: number): void {
    this.#writers[partition]?.wantFull();
  }

  /** Somebody misses content: what is held here is stored again. */
  wantContent(digests: readonly Uint8Array[]): void {
    const objects = new Map<string, Uint8Array>();
    for (const digest of digests) {
      const bytes = this.#source.object(toHex(digest));
      if (bytes !== undefined) {
        objects.set(toHex(digest), bytes);
      }
    }
    this.#context.tasks.start(this.#putAgain(objects));
  }

  /** Takes what a reader delivered. */
  take(message: Extract<Message, { kind: "record" | "caught-up" }>): void {
    const kind = message.reader.slice(this.#name.length + 1);
    if (message.kind === "record") {
      this.#record(kind, message.record);
      return;
    }
    if (kind === "registry") {
      this.#registry.reached(message.sequence);
    }
    if (this.#behind.delete(message.reader)) {
      this.#context.tasks.signal(WAKE);
    }
  }

  #record(kind: string, record: StoredRecord): void {
    switch (kind) {
      case "config":
        this.#config.take(record);
        break;
      case "registry":
        this.#registryRecord(record);
        break;
      case "rendered":
        this.#evidence.take("RENDERED", record);
        break;
      case "versions":
        this.#evidence.take("VERSIONS", record);
        break;
      case "checkpoints":
        this.#evidence.take("CHECKPOINTS", record);
        break;
    }
  }

  #registryRecord(record: StoredRecord): void {
    const { outbox, moment } = this.#context;
    const result = this.#registry.take(record);
    switch (result.kind) {
      case "change":
        this.#source.apply([result.change]);
        if (this.#review(result.id, partitionOf(result.id))) {
          this.#writers[partitionOf(result.id)]?.look();
        }
        this.#traced(record);
        this.#changed(moment().monotonicMs, false);
        break;
      case "unreadable":
        outbox.count("ringwall_registry_unreadable_total");
        outbox.log("error", "a registry record can't be read by this build", {
          workload: result.id,
          sequence: record.sequence,
        });
        break;
      case "none":
        break;
    }
  }

  /** Notes a change; the round wakes only for the first of a window. */
  #changed(nowMs: number, commit: boolean): void {
    const first = this.#debounce.waitMs(nowMs) === undefined;
    this.#debounce.note(nowMs, commit);
    if (first && this.#current) {
      this.#context.tasks.signal(WAKE);
    }
  }

  /** A change waits from when it was stored, so that nothing between two spans is left out. */
  #traced({ headers, timeUnixMs }: StoredRecord): void {
    const { wallMs } = this.#context.moment();
    this.#traces.add(headers.traceparent, Math.min(timeUnixMs, wallMs));
  }

  #folded(record: StoredRecord): void {
    const { tasks, moment } = this.#context;
    this.#traced(record);
    this.#debounce.note(moment().monotonicMs, true);
    tasks.signal(FOLDED_SIGNAL);
    this.#tree.look();
    tasks.signal(WAKE);
  }

  /** Holds a workload's head against its record; true if another mark is wanted now, or one less. */
  #review(id: string, partition: number): boolean {
    const head = this.#heads.of(partition).get(id);
    return this.#marks.review(id, partition, head, this.#registry.get(id));
  }

  /** Renders window after window. */
  *#run(): Task<never> {
    const { moment, options, outbox, tasks } = this.#context;
    while (this.#behind.size > 0 || !this.#config.isIdle) {
      yield* signalled(WAKE, 60_000);
    }
    this.#current = true;
    for (const kind of ["rendered", "versions", "checkpoints"]) {
      outbox.add({ kind: "unfollow", reader: `${this.#name}.${kind}` });
    }
    this.#changed(moment().monotonicMs, true);
    tasks.start(this.#tree.run());
    for (;;) {
      if (this.#gate.isUnjudged) {
        yield* this.#gate.judge();
      }
      this.#say();
      const waitMs = this.#debounce.waitMs(moment().monotonicMs);
      if (this.#gate.reason !== undefined) {
        yield* signalled(WAKE, options.heldCheckMs);
      } else if (waitMs === undefined) {
        yield* signalled(WAKE, 60_000);
      } else if (waitMs > 0) {
        yield* pause(waitMs);
      } else {
        yield* this.#flush();
      }
    }
  }

  *#flush(): Task<void> {
    const { moment, outbox } = this.#context;
    const { head, generation } = this.#config.fold;
    const { state } = this.#tree;
    if (head === undefined || state.kind !== "admitted") {
      return;
    }
    const { monotonicMs: beganMs } = moment();
    const joined = this.#traces.take();
    const commits = this.#debounce.close();
    const inputs = create(InputsSchema, {
      generation,
      configSequence: BigInt(head.sequence),
      commitId: fromHex(head.id),
      registryRevision: BigInt(this.#registry.revision),
      registryTimeUnixMs: BigInt(this.#registry.timeUnixMs),
    });
    const { configuration, edits } = state;
    if (configuration !== this.#applied) {
      this.#applied = configuration;
      this.#source.apply([{ kind: "configuration", configuration, edits }]);
    }
    this.#source.begin();
    let changes = this.#source.work();
    while (changes === undefined) {
      yield* slice();
      changes = this.#source.work();
    }
    // Writers look only when they know both what changed and what has to be marked before it.
    const touched = this.#heads.take(changes, inputs);
    let changed = 0;
    for (const [partition, ids] of touched) {
      changed += ids.size;
      for (const id of ids) {
        this.#review(id, partition);
      }
    }
    const trace = joined === undefined ? undefined : this.#span(joined, inputs, touched);
    for (const [partition, writer] of this.#writers.entries()) {
      writer.changed(touched.get(partition) ?? NOBODY, commits, trace);
    }
    this.#say();
    const tookMs = moment().monotonicMs - beganMs;
    outbox.add({ kind: "observe", name: "ringwall_render_seconds", value: tookMs / 1000 });
    outbox.add({ kind: "gauge", name: "ringwall_render_workloads", value: this.#registry.size });
    outbox.add({
      kind: "gauge",
      name: "ringwall_render_skipped_rows",
      value: changes.skippedRows,
    });
    outbox.count("ringwall_render_changed_total", {}, changed);
  }

  /** Records the render of a window and gives its trace. */
  #span(
    { parent, links, sinceUnixMs }: Joined,
    inputs: Inputs,
    touched: ReadonlyMap<number, ReadonlySet<string>>,
  ): string {
    const { wallMs, random } = this.#context.moment();
    const trace = childTrace(parent, random);
    let workloads = 0;
    for (const ids of touched.values()) {
      workloads += ids.size;
    }
    this.#context.outbox.add({
      kind: "span",
      name: "render",
      trace,
      parent,
      links,
      startUnixMs: sinceUnixMs,
      endUnixMs: wallMs,
      attributes: {
        "ringwall.commit": toHex(inputs.commitId),
        "ringwall.config_sequence": Number(inputs.configSequence),
        "ringwall.registry_revision": Number(inputs.registryRevision),
        "ringwall.workloads": workloads,
      },
    });
    return trace;
  }

  /** Tells readiness, and wakes the writers if they may go on. */
  #say(): void {
    this.#gate.say(this.#heads.inputs !== undefined);
    if (this.#gate.reason === undefined) {
      for (const writer of this.#writers) {
        writer.look();
      }
    }
  }

  *#putAgain(objects: ReadonlyMap<string, Uint8Array>): Task<void> {
    const { outbox } = this.#context;
    try {
      yield* this.#content.ensure(objects, WANTED_AGE_MS);
    } catch (error) {
      if (!(error instanceof EffectFailed)) {
        throw error;
      }
      outbox.log("warn", `content can't be stored again: ${error.message}`);
    }
  }
}
