import {
  type Effect,
  type Message,
  type Moment,
  Outbox,
  pause,
  type Task,
  Tasks,
} from "@ringwall/actor";
import { PARTITIONS, type ServiceEnv, type ServiceReducer, Slots } from "@ringwall/bus";
import type { Inputs } from "@ringwall/wire";
import { Operations } from "./api/operations.ts";
import { CheckpointBook } from "./checkpoints/checkpoint-book.ts";
import { CheckpointWriter } from "./checkpoints/checkpoint-writer.ts";
import { Admission } from "./config/admission.ts";
import { BlobStore } from "./config/blob-store.ts";
import { Committer } from "./config/committer.ts";
import { ConfigReader } from "./config/config-reader.ts";
import { addConfigOperations } from "./config/config-service.ts";
import { HeadChecker } from "./config/head-check.ts";
import { commitInputs } from "./config/summaries.ts";
import { TreeReading } from "./config/tree-reading.ts";
import { Collector } from "./content/collector.ts";
import { ContentStore } from "./content/content-store.ts";
import { type KeeperContext, log } from "./context.ts";
import { HeldWatch } from "./held/held-watch.ts";
import { PolicyReading } from "./history/policy-reading.ts";
import { addPolicyOperations } from "./history/policy-service.ts";
import { VersionHistory } from "./history/version-history.ts";
import { LogStart } from "./log/log-start.ts";
import { StreamSweep } from "./log/stream-sweep.ts";
import { readOptions } from "./options.ts";
import { PartitionOwners, partitionSlot } from "./versions/partition-owners.ts";
import { VersionLog } from "./versions/version-log.ts";

const CONFIG_SLOT = "keeper.config";
const COLLECTOR_SLOT = "collector";

/** Wait before CONFIG is read anew after its reader was lost. */
const CONFIG_AGAIN_MS = 500;

const ALARMING = [
  "ringwall_epochs_begun_total",
  "ringwall_claims_overruled_total",
  "ringwall_versions_malformed_total",
  "ringwall_checkpoints_failed_total",
] as const;

/** Makes the reducer of one version-keeper. */
export function createKeeper(env: ServiceEnv): ServiceReducer {
  return new Keeper(env);
}

/**
 * The version-keeper: keeps the configuration's versions (any instance) and the policies' versions
 * (of the partitions whose slots it owns). This class only wires its parts together and hands each
 * message to the part that it concerns.
 */
class Keeper implements ServiceReducer {
  readonly #context: KeeperContext;
  readonly #slots: Slots;
  readonly #config: ConfigReader;
  readonly #head: HeadChecker;
  readonly #logs: LogStart;
  readonly #held: HeldWatch;
  readonly #owners: PartitionOwners;
  readonly #operations: Operations;
  readonly #checkpoints: CheckpointWriter;
  readonly #collector: Collector;
  readonly #sweep: StreamSweep;
  #moment: Moment = { wallMs: 0, monotonicMs: 0, random: () => 0 };
  #writes = 0;
  #life = "";
  #shownReady: string | undefined = "";
  #stopped = false;

  constructor(env: ServiceEnv) {
    const outbox = new Outbox();
    const tasks = new Tasks(outbox, "task");
    const context: KeeperContext = {
      names: env.names,
      instance: env.instance,
      environment: env.environment,
      options: readOptions(env.options),
      outbox,
      tasks,
      moment: () => this.#moment,
      traceRatio: env.traceRatio ?? 1,
      nextWrite: () => this.#nextWrite(),
    };
    this.#context = context;
    const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
    this.#slots = new Slots({
      names: env.names,
      instance: env.instance,
      service: "version-keeper",
      slots: [...partitions.map(partitionSlot), CONFIG_SLOT, COLLECTOR_SLOT],
    });
    const blobs = new BlobStore(env.names);
    const admission = new Admission(tasks, blobs);
    const versions = new VersionLog(env.names, context.options.trimAfterMs);
    const book = new CheckpointBook(env.names, (partition) => this.#owners.wake(partition));
    const touch = () => this.#held.touch();
    const touchLazily = () => this.#held.touchLazily();
    this.#sweep = new StreamSweep(context);
    this.#config = new ConfigReader(context, blobs);
    this.#head = new HeadChecker(context, this.#config, admission, touch);
    this.#logs = new LogStart({
      context,
      book,
      versions,
      changed: touch,
      recorded: touchLazily,
      suspected: () => this.#owners.wakeAll(),
    });
    this.#held = new HeldWatch({
      context,
      config: this.#config,
      head: this.#head,
      versions,
      book,
      isCaughtUp: () => this.#config.isCaughtUp && this.#logs.isCaughtUp,
    });
    this.#owners = new PartitionOwners(context, versions, {
      hasCommit: (inputs) => this.#config.hasCommit(inputs),
      stored: touchLazily,
      checkpoint: (partition) => book.ofPartition(partition)[0],
    });
    this.#checkpoints = new CheckpointWriter({
      context,
      config: this.#config,
      versions,
      book,
      held: this.#held,
      owned: () => this.#owners.running(),
      ownsConfig: () => this.#slots.owned.has(CONFIG_SLOT),
    });
    const content = new ContentStore(context);
    this.#collector = new Collector({
      context,
      versions,
      content,
      sweep: this.#sweep,
      held: this.#held,
    });
    this.#operations = new Operations(context);
    addConfigOperations(this.#operations, {
      context,
      blobs,
      committer: new Committer({
        context,
        reader: this.#config,
        blobs,
        admission,
        heldReason: () => this.#held.reasonAgainstCommits,
        admitted: (treeSha256, configuration) => this.#head.admitted(treeSha256, configuration),
        admittedHead: () => this.#head.configuration,
      }),
      trees: new TreeReading(context, this.#config),
      acceptance: { context, reader: this.#config, held: this.#held, sweep: this.#sweep },
    });
    addPolicyOperations(
      this.#operations,
      new PolicyReading(versions, content),
      new VersionHistory(versions, content),
    );
  }

  step(message: Message, moment: Moment): readonly Effect[] {
    const { outbox, tasks } = this.#context;
    this.#moment = moment;
    if (this.#life === "") {
      this.#life = Math.trunc(moment.wallMs).toString(36);
    }
    outbox.pass(this.#slots.step(message, moment));
    if (!tasks.take(message)) {
      this.#take(message);
    }
    if (!this.#stopped) {
      this.#settle();
    }
    return outbox.take();
  }

  status(): { slots: string[]; inputs?: Inputs } {
    const { log: config } = this.#config;
    const slots = [...this.#slots.owned];
    return config.head === undefined
      ? { slots }
      : { slots, inputs: commitInputs(config, config.head) };
  }

  #take(message: Message): void {
    switch (message.kind) {
      case "start":
        this.#showZeros();
        this.#config.open();
        this.#logs.start();
        this.#held.start();
        this.#checkpoints.start();
        break;
      case "stop":
        this.#stopped = true;
        this.#owners.update(() => false);
        this.#collector.stop();
        break;
      case "reconnected":
        this.#held.reconnected();
        this.#owners.reconnected();
        break;
      case "record":
        this.#takeRecord(message);
        break;
      case "caught-up":
        this.#caughtUp(message.reader);
        break;
      case "reader-lost":
        this.#readerLost(message);
        break;
      case "delivery":
        if (!this.#operations.take(message)) {
          this.#owners.take(message);
        }
        break;
      case "failed":
        if (!message.tag.startsWith("slots.")) {
          const { tag, effect, code, detail } = message;
          log(this.#context, "error", `${effect} failed: ${detail}`, { tag, code });
        }
        break;
      default:
        break;
    }
  }

  #takeRecord(message: Extract<Message, { readonly kind: "record" }>): void {
    const { reader, record } = message;
    if (this.#config.isReader(reader)) {
      this.#config.take(record);
      this.#held.touch();
    } else if (
      !this.#logs.take(reader, record) &&
      !this.#sweep.take(reader, record) &&
      !this.#held.take(reader, record)
    ) {
      this.#owners.take(message);
    }
  }

  #caughtUp(reader: string): void {
    if (this.#config.isReader(reader)) {
      this.#config.caughtUp();
      this.#held.touch();
    }
    this.#logs.caughtUp(reader);
    this.#sweep.caughtUp(reader);
    this.#held.caughtUp(reader);
  }

  #readerLost(message: Extract<Message, { readonly kind: "reader-lost" }>): void {
    const { reader, detail } = message;
    if (this.#config.isReader(reader)) {
      log(this.#context, "error", `CONFIG is not the log that it was: ${detail}`);
      this.#context.tasks.start(this.#reopenConfig(), () => undefined);
    }
    this.#logs.readerLost(reader, detail);
    this.#sweep.readerLost(reader);
    this.#held.readerLost(reader);
    this.#owners.take(message);
  }

  *#reopenConfig(): Task<void> {
    yield* pause(CONFIG_AGAIN_MS);
    this.#config.open();
    this.#held.touch();
  }

  /** Draws the conclusions of a step: held or not, whom to serve, what to say. */
  #settle(): void {
    const { lost } = this.#slots.takeChanges();
    for (const slot of lost) {
      const [, partition] = slot.split(".");
      this.#owners.stop(Number(partition));
    }
    this.#head.look();
    this.#held.evaluate();
    const caughtUp = this.#config.isCaughtUp && this.#logs.isCaughtUp;
    const serves = caughtUp && this.#held.reason === undefined;
    this.#owners.update((partition) => serves && this.#slots.owned.has(partitionSlot(partition)));
    if (this.#slots.owned.has(COLLECTOR_SLOT)) {
      this.#collector.start();
    } else {
      this.#collector.stop();
    }
    if (caughtUp && this.#held.isKnown) {
      this.#operations.listen();
    }
    const speaks = caughtUp && this.#operations.isListening;
    this.#showReady(speaks ? this.#held.reason : "the logs are being read");
  }

  #showReady(reason: string | undefined): void {
    if (reason === this.#shownReady) {
      return;
    }
    this.#shownReady = reason;
    this.#context.outbox.add(
      reason === undefined
        ? { kind: "ready", ready: true }
        : { kind: "ready", ready: false, reason },
    );
  }

  /** Counters that alarms watch exist from the start. */
  #showZeros(): void {
    for (const name of ALARMING) {
      this.#context.outbox.add({ kind: "count", name, by: 0 });
    }
  }

  /** Ids are unique over lives of one instance name, so a stale one is never taken for a new one. */
  #nextWrite(): string {
    this.#writes += 1;
    return `${this.#context.instance}-${this.#life}:${this.#writes}`;
  }
}
