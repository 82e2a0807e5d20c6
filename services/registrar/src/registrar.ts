import { create } from "@bufbuild/protobuf";
import type { Effect, Message, Moment, Reducer } from "@ringwall/actor";
import { PARTITIONS, Slots } from "@ringwall/bus";
import { type Inputs, InputsSchema } from "@ringwall/wire";
import { LeaseEndpoints } from "./lease-endpoints.ts";
import { LEASE_TIMER, LeaseKeeper } from "./leases/lease-keeper.ts";
import type { RegistrarEnv } from "./options.ts";
import { Outbox } from "./outbox.ts";
import { PartitionWriter } from "./partition-writer.ts";
import { ReadEndpoints, WAIT_TIMER } from "./reads/read-endpoints.ts";
import { WorkloadWatches } from "./reads/workload-watches.ts";
import { MARKER_TTL_MS, Registry, type RegistryChange } from "./registry.ts";
import { RegistryMetrics } from "./registry-metrics.ts";
import type { Delivery } from "./reply.ts";
import { Scopes } from "./scopes.ts";
import { LEASE_SLOT, SLOT_NAMES } from "./slot-names.ts";
import { WriteEndpoints } from "./write-endpoints.ts";

const FOLLOW_TIMER = "registry.follow";
const FOLLOW_AGAIN_MS = 300;

const GAUGE_TIMER = "gauges";
const GAUGE_MS = 5_000;

const STALE_AFTER_MS = 45_000;
const EXPIRE_AFTER_MS = 600_000;

/** What the registrar's fold is doing. */
type FoldState = "reading" | "current";

/**
 * The registrar: owns workloads and their endpoint rows, is the only writer of REGISTRY, counts
 * leases and answers reads. Every instance folds the whole of REGISTRY; slots say who writes which
 * partition, and the partition's fence makes it true.
 */
export class Registrar implements Reducer {
  readonly #env: RegistrarEnv;
  readonly #out = new Outbox();
  readonly #slots: Slots;
  readonly #registry: Registry;
  readonly #writers: readonly PartitionWriter[];
  readonly #writes: WriteEndpoints;
  readonly #reads: ReadEndpoints;
  readonly #watches: WorkloadWatches;
  readonly #leases: LeaseKeeper;
  readonly #leaseEndpoints: LeaseEndpoints;
  readonly #metrics: RegistryMetrics;
  #moment: Moment = { wallMs: 0, monotonicMs: 0, random: () => 0 };
  #fold: FoldState = "reading";
  #sharing = false;
  #reader = 0;
  #writeLife = "";
  #writeCount = 0;
  #heardMs = 0;

  constructor(env: RegistrarEnv) {
    const { names, instance, options } = env;
    const out = this.#out;
    this.#env = env;
    this.#registry = new Registry(names);
    this.#slots = new Slots({ names, instance, service: "registrar", slots: SLOT_NAMES });
    this.#writes = new WriteEndpoints({
      names,
      out,
      claims: this.#registry.indexes.claims,
      submit: (partition, job) => this.#writers[partition]?.submit(job),
    });
    const host = {
      names,
      instance,
      registry: this.#registry,
      scopes: new Scopes(options.scopes),
      out,
      moment: () => this.#moment,
      traceRatio: env.traceRatio ?? 1,
      writeId: () => this.#writeId(),
      serving: (partition: number, serving: boolean) => {
        if (serving) {
          this.#writes.open(partition);
        } else {
          this.#writes.close(partition);
        }
      },
      vanished: (id: string) => {
        const change = this.#registry.drop(id);
        if (change !== undefined) {
          this.#changed(change);
        }
      },
      contradicted: (detail: string) => this.#contradicted(detail),
    };
    this.#writers = Array.from(
      { length: PARTITIONS },
      (_, each) => new PartitionWriter(host, each),
    );
    this.#reads = new ReadEndpoints(names, this.#registry, out);
    this.#watches = new WorkloadWatches(names, instance, this.#registry, out);
    this.#leases = new LeaseKeeper({
      names,
      registry: this.#registry,
      out,
      staleAfterMs: options.staleAfterMs ?? STALE_AFTER_MS,
      expireAfterMs: options.expireAfterMs ?? EXPIRE_AFTER_MS,
    });
    this.#leaseEndpoints = new LeaseEndpoints(names, this.#leases, out);
    this.#metrics = new RegistryMetrics(this.#registry, out);
  }

  /** What `service.status` shows of it. */
  status(): { readonly slots: readonly string[]; readonly inputs: Inputs } {
    return {
      slots: [...this.#slots.owned].sort(),
      inputs: create(InputsSchema, { registryRevision: BigInt(this.#registry.revision) }),
    };
  }

  step(message: Message, moment: Moment): readonly Effect[] {
    // Records keep whole milliseconds; a clock may give parts of them.
    this.#moment = { ...moment, wallMs: Math.floor(moment.wallMs) };
    this.#take(message);
    this.#watches.step(message, moment);
    this.#ownership(message);
    return this.#out.take();
  }

  #take(message: Message): void {
    switch (message.kind) {
      case "start":
        this.#start();
        return;
      case "reconnected":
        this.#reconnected();
        return;
      case "record":
        this.#heard();
        this.#record(message);
        return;
      case "caught-up":
        this.#caughtUp(message.reader, message.sequence);
        return;
      case "reader-lost":
        this.#readerLost(message.reader, message.detail);
        return;
      case "delivery":
        this.#heard();
        this.#delivery(message);
        return;
      case "appended":
        this.#heard();
        this.#writer(message.tag, "write")?.appended(message.tag, message.sequence);
        return;
      case "response":
        this.#heard();
        this.#answered(message.tag);
        return;
      case "failed":
        this.#failed(message);
        return;
      case "timer":
        this.#timer(message.id);
        return;
      case "again":
        this.#writer(message.tag, "pump")?.pump();
        return;
      default:
        return;
    }
  }

  #start(): void {
    this.#writeLife = `${this.#env.instance}:${this.#moment.wallMs.toString(36)}`;
    this.#metrics.begin();
    this.#out.push({ kind: "timer", id: GAUGE_TIMER, delayMs: GAUGE_MS });
    this.#read("reading the registry");
  }

  /** Begins to read the whole of REGISTRY; what is folded already stays readable meanwhile. */
  #read(reason: string): void {
    this.#reader += 1;
    this.#registry.beginSweep(this.#moment.wallMs);
    if (this.#fold === "reading") {
      this.#out.push({ kind: "ready", ready: false, reason });
    }
    this.#out.fork({
      kind: "follow",
      reader: `registry.${this.#reader}`,
      stream: "REGISTRY",
      filters: [this.#env.names.registryAll],
      from: "last-per-subject",
    });
  }

  /** After a long absence removals may have lost their markers: everything is read again. */
  #reconnected(): void {
    if (this.#moment.monotonicMs - this.#heardMs > MARKER_TTL_MS / 2) {
      this.#out.push({ kind: "unfollow", reader: `registry.${this.#reader}` });
      this.#read("reading the registry again");
    }
    this.#heard();
  }

  #record({ reader, record }: Extract<Message, { kind: "record" }>): void {
    if (reader.startsWith("reload.")) {
      this.#writer(reader, "reload")?.reloadRecord(reader, record);
      return;
    }
    if (reader !== `registry.${this.#reader}`) {
      return;
    }
    const folded = this.#registry.apply(record);
    if (folded === undefined) {
      return;
    }
    if (folded.change !== undefined) {
      this.#changed(folded.change);
    }
    this.#writers[folded.partition]?.folded(record);
    this.#reads.advanced();
  }

  #changed(change: RegistryChange): void {
    this.#metrics.changed(change);
    this.#watches.changed();
    this.#leases.changed(change, this.#moment.monotonicMs);
  }

  #caughtUp(reader: string, sequence: number): void {
    if (reader.startsWith("reload.")) {
      this.#writer(reader, "reload")?.reloadEnded(reader, sequence);
      return;
    }
    if (reader !== `registry.${this.#reader}`) {
      return;
    }
    for (const change of this.#registry.endSweep(sequence)) {
      this.#changed(change);
    }
    const { contradiction } = this.#registry;
    if (contradiction !== undefined) {
      this.#contradicted(contradiction);
      return;
    }
    this.#reads.advanced();
    if (this.#fold === "current") {
      return;
    }
    this.#fold = "current";
    this.#reads.open();
    this.#watches.open();
    this.#out.push({ kind: "ready", ready: true });
    for (const slot of this.#slots.owned) {
      this.#gain(slot);
    }
  }

  /** What was folded is not what the stream has: as if its reader had noticed. */
  #contradicted(detail: string): void {
    const reader = `registry.${this.#reader}`;
    this.#out.push({ kind: "unfollow", reader });
    this.#readerLost(reader, detail);
  }

  #readerLost(reader: string, detail: string): void {
    if (reader.startsWith("reload.")) {
      this.#writer(reader, "reload")?.reloadLost(reader, detail);
      return;
    }
    if (reader !== `registry.${this.#reader}`) {
      return;
    }
    // The stream was created anew or went back: nothing that was known of it holds.
    for (const slot of this.#slots.owned) {
      this.#lose(slot);
    }
    this.#reads.close();
    this.#watches.close();
    this.#registry.reset();
    this.#watches.changed();
    this.#metrics.publish();
    this.#fold = "reading";
    this.#out.push({
      kind: "log",
      level: "error",
      message: "REGISTRY was created anew or went back: it is read again",
      fields: { detail },
    });
    this.#out.push({ kind: "ready", ready: false, reason: `REGISTRY was lost: ${detail}` });
    this.#out.push({ kind: "timer", id: FOLLOW_TIMER, delayMs: FOLLOW_AGAIN_MS });
  }

  #delivery(delivery: Delivery): void {
    if (!this.#writes.take(delivery) && !this.#reads.take(delivery, this.#moment)) {
      this.#leaseEndpoints.take(delivery, this.#moment);
    }
  }

  #answered(tag: string): void {
    const partition = numberOf(tag, "presence");
    if (partition !== undefined) {
      this.#leases.answered(partition);
    }
  }

  #failed({ tag, effect, code, detail }: Extract<Message, { kind: "failed" }>): void {
    this.#writer(tag, "write")?.failed(tag, code, detail);
    this.#writer(tag, "reload")?.reloadLost(tag, detail);
    this.#answered(tag);
    if (effect === "follow" || effect === "listen") {
      const message = `${effect} ${tag} failed: ${code}: ${detail}`;
      this.#out.push({ kind: "log", level: "error", message });
    }
  }

  #timer(id: string): void {
    if (id === LEASE_TIMER) {
      this.#leases.tick(this.#moment.monotonicMs);
    } else if (id === WAIT_TIMER) {
      this.#reads.timer(this.#moment.monotonicMs);
    } else if (id === GAUGE_TIMER) {
      this.#gauges();
    } else if (id === FOLLOW_TIMER) {
      this.#read("reading the registry again");
    } else {
      this.#writer(id, "retry")?.retry();
    }
  }

  /** Slots are asked for only once the fold is current, and then for the rest of this life. */
  #ownership(message: Message): void {
    if (!this.#sharing) {
      if (this.#fold !== "current") {
        return;
      }
      this.#sharing = true;
      this.#out.fork(...this.#slots.step({ kind: "start" }, this.#moment));
    }
    this.#out.fork(...this.#slots.step(message, this.#moment));
    const { gained, lost } = this.#slots.takeChanges();
    for (const slot of lost) {
      this.#lose(slot);
    }
    if (this.#fold === "current") {
      for (const slot of gained) {
        this.#gain(slot);
      }
    }
  }

  #gain(slot: string): void {
    if (slot === LEASE_SLOT) {
      this.#leases.gain(this.#moment.monotonicMs);
      this.#leaseEndpoints.open();
    } else {
      this.#writer(slot, "registrar")?.gain();
    }
  }

  #lose(slot: string): void {
    if (slot === LEASE_SLOT) {
      this.#leases.lose();
      this.#leaseEndpoints.close();
    } else {
      this.#writer(slot, "registrar")?.lose();
    }
  }

  #heard(): void {
    this.#heardMs = this.#moment.monotonicMs;
    this.#leases.evidence(this.#heardMs);
  }

  /** The writer whose partition is the number behind `<head>.` in a name. */
  #writer(name: string, head: string): PartitionWriter | undefined {
    const partition = numberOf(name, head);
    return partition === undefined ? undefined : this.#writers[partition];
  }

  #writeId(): string {
    this.#writeCount += 1;
    return `${this.#writeLife}.${this.#writeCount}`;
  }

  #gauges(): void {
    this.#metrics.measure(this.#watches.size);
    this.#out.push({ kind: "timer", id: GAUGE_TIMER, delayMs: GAUGE_MS });
  }
}

/** Makes a registrar. Throws RangeError on scopes that do not parse. */
export function createRegistrar(env: RegistrarEnv): Registrar {
  return new Registrar(env);
}

function numberOf(name: string, head: string): number | undefined {
  const [first, number] = name.split(".");
  const value = Number(number);
  return first === head && number !== undefined && Number.isInteger(value) ? value : undefined;
}
