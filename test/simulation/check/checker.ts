import { fromBinary } from "@bufbuild/protobuf";
import type { Effect, Message, StoredRecord } from "@ringwall/actor";
import { partitionOf, type StreamName } from "@ringwall/bus";
import type { SimBus } from "@ringwall/testkit";
import { type Inputs, RenderBatchSchema } from "@ringwall/wire";
import type { Host, HostWatcher } from "../world/host.ts";
import { ConfigOracle } from "./config-oracle.ts";
import { hex, short } from "./hex.ts";
import { HostChecks } from "./host-checks.ts";
import { inputsText, isBelow } from "./inputs.ts";
import { PromiseChecks } from "./promise-checks.ts";
import { RefusalChecks } from "./refusal-checks.ts";
import { RegistryOracle } from "./registry-oracle.ts";
import { RenderOracle } from "./render-oracle.ts";
import { type PartitionFold, VersionOracle } from "./version-oracle.ts";
import { Violation } from "./violation.ts";

/** Subscriptions of a world: more than this says that somebody does not end his. */
const SUBSCRIPTIONS = 1200;

/** Watches everything that is stored, said and installed, and throws the first Violation. */
export class Checker implements HostWatcher {
  readonly config = new ConfigOracle();
  readonly registry: RegistryOracle;
  readonly versions = new VersionOracle();
  readonly renders = new RenderOracle();
  readonly hosts: HostChecks;
  readonly refusals = new RefusalChecks();
  readonly #bus: SimBus;
  readonly #agentHead: string;
  readonly #hosts = new Map<string, Host>();
  /** Inputs of the last batch of each partition. */
  readonly #batchInputs = new Map<string, Inputs>();
  /** How often RENDERED became another log or went back. */
  #renderedLives = 0;
  #rendersChecked = 0;

  constructor(bus: SimBus) {
    this.#bus = bus;
    this.#agentHead = `${bus.names.prefix}.agent.`;
    this.registry = new RegistryOracle(bus.names);
    this.hosts = new HostChecks({
      names: bus.names,
      content: () => bus.stream("CONTENT"),
      config: this.config,
      registry: this.registry,
      versions: this.versions,
    });
    bus.onStored((stream, record) => this.#stored(stream, record));
  }

  /** Watches a host from now on. */
  watch(host: Host): void {
    this.#hosts.set(host.workload, host);
  }

  /** Batches of versions that were held against a full render. */
  get rendersChecked(): number {
    return this.#rendersChecked;
  }

  /** Checks for what one operator is told. */
  promises(): PromiseChecks {
    const nowMs = () => this.#bus.nowMs;
    return new PromiseChecks({ config: this.config, registry: this.registry, nowMs });
  }

  installed(host: Host, _before: unknown, how: "apply" | "boot"): void {
    this.hosts.installed(host, how);
  }

  /** Streams were emptied or went back. */
  regressed(streams: readonly StreamName[]): void {
    for (const name of streams) {
      const stream = this.#bus.stream(name);
      switch (name) {
        case "CONFIG":
          this.config.regressed(stream.records);
          break;
        case "REGISTRY":
          this.registry.regressed(stream.records, stream.lastSequence, this.#bus.nowMs);
          break;
        case "VERSIONS":
          this.versions.regressed(stream.records);
          break;
        case "RENDERED":
          this.versions.renderedRegressed();
          this.#batchInputs.clear();
          this.#renderedLives += 1;
          break;
        default:
          break;
      }
    }
  }

  /** A gateway takes a message. */
  gatewayTakes(gateway: string, message: Message): void {
    if (message.kind === "delivery" && message.subject.startsWith(this.#agentHead)) {
      const [, , workload = ""] = message.subject.split(".");
      const host = this.#hosts.get(workload);
      if (host !== undefined) {
        this.refusals.heard(gateway, host, message.payload, message.listener === "orphans");
      }
    }
  }

  /** A gateway wants something done. */
  gatewayWants(gateway: string, effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === "publish" && effect.subject.startsWith(this.#agentHead)) {
        const down = this.refusals.pushed(gateway, effect.payload);
        const [, , workload = ""] = effect.subject.split(".");
        if (down.workloadId !== workload) {
          throw new Violation("I9", `${gateway} sends ${down.workloadId}'s policy to ${workload}`);
        }
      }
    }
  }

  /** A registrar wants something done. */
  registrarWants(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === "append" && effect.stream === "REGISTRY") {
        this.registry.wanted(effect);
      }
    }
  }

  /** An agent wants something done. */
  agentWants(host: Host, effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === "publish") {
        this.hosts.said(host, effect.payload);
      }
    }
    this.refusals.settle(host);
  }

  /** After every step of every actor. */
  stepped(): void {
    if (this.#bus.core.size > SUBSCRIPTIONS) {
      throw new Violation("I8", `${this.#bus.core.size} subscriptions are open`);
    }
  }

  #stored(stream: StreamName, record: StoredRecord): void {
    switch (stream) {
      case "BLOBS":
        this.config.takeBlob(record);
        break;
      case "CONFIG":
        this.config.take(record);
        break;
      case "REGISTRY":
        this.registry.take(record);
        break;
      case "RENDERED":
        this.#checkBatchOrder(record);
        break;
      case "VERSIONS": {
        const fold = this.versions.take(record);
        if (fold !== undefined) {
          this.#checkRender(fold, record);
        }
        break;
      }
      default:
        break;
    }
  }

  /** A renderer that lost its partition, or lags, must not write after one that is further. */
  #checkBatchOrder(record: StoredRecord): void {
    const { inputs } = fromBinary(RenderBatchSchema, record.payload);
    const last = this.#batchInputs.get(record.subject);
    if (inputs === undefined) {
      return;
    }
    if (last !== undefined && isBelow(inputs, last)) {
      if (this.#renderedLives > 0) {
        // As for versions: a write of another life of the log fits by chance. Keepers ignore it.
        return;
      }
      const words = `RENDERED ${record.sequence} is of inputs ${inputsText(inputs)}`;
      throw new Violation("I10", `${words}, after ${inputsText(last)}`);
    }
    this.#batchInputs.set(record.subject, inputs);
  }

  /** The heads of a partition are what a full render of its inputs gives. */
  #checkRender(fold: PartitionFold, record: StoredRecord): void {
    const { inputs } = fold;
    if (inputs === undefined) {
      return;
    }
    const tree = this.config.tree(hex(inputs.commitId));
    if (tree === undefined) {
      throw new Violation("I6", `VERSIONS ${record.sequence} names a commit that nobody made`);
    }
    this.#rendersChecked += 1;
    const partition = record.subject.slice(record.subject.lastIndexOf(".") + 1);
    const states = this.registry.statesAt(Number(inputs.registryRevision));
    let difference = "";
    for (const state of states.toReversed()) {
      difference = this.differenceFrom(fold, Number(partition), this.renders.bodies(tree, state));
      if (difference === "") {
        return;
      }
    }
    const words = `VERSIONS ${record.sequence} (commit ${short(tree.id)}, registry`;
    throw new Violation("I6", `${words} ${inputs.registryRevision}): ${difference}`);
  }

  /** What differs between a partition's heads and a full render; empty if nothing does. */
  differenceFrom(
    fold: PartitionFold,
    partition: number,
    bodies: ReadonlyMap<string, string | undefined>,
  ): string {
    for (const [workload, { digest }] of fold.heads) {
      const wanted = bodies.get(workload);
      if (digest !== "" && wanted !== digest) {
        return `${workload} has ${short(digest)}, a full render gives ${short(wanted ?? "")}`;
      }
    }
    for (const [workload, digest] of bodies) {
      const head = fold.heads.get(workload)?.digest ?? "";
      if (head === "" && digest !== undefined && this.partitionOf(workload) === partition) {
        return `${workload} has no body, a full render gives ${short(digest)}`;
      }
    }
    return "";
  }

  /** Partition of a workload. */
  readonly partitionOf: (workload: string) => number = memo(partitionOf);
}

function memo(of: (workload: string) => number): (workload: string) => number {
  const known = new Map<string, number>();
  return (workload) => {
    let partition = known.get(workload);
    if (partition === undefined) {
      partition = of(workload);
      known.set(workload, partition);
    }
    return partition;
  };
}
