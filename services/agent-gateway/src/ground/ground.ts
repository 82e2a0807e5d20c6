import type { Effect, Message } from "@ringwall/actor";
import type { Inputs } from "@ringwall/wire";
import { toHex } from "../wire/hex.ts";
import type { Commits } from "./commits.ts";
import type { RegistryIds } from "./registry-ids.ts";

/** Claims that are not settled for this long are put to the streams' leaders. */
const PATIENCE_MS = 500;

const CONFIG_TAG = "ground:CONFIG";
const REGISTRY_TAG = "ground:REGISTRY";

/** Inputs that a stored record names and that our readers of CONFIG and REGISTRY do not reach. */
interface Doubt {
  readonly inputs: Inputs;
  readonly sinceMs: number;
  /** Why the streams themselves do not reach them; undefined while that is not known. */
  lost: string | undefined;
}

/**
 * Says whether what the logs name is still there. A record that names a commit or a registry
 * revision which the streams do not have (asked of their leaders, so that a slow reader is no
 * reason) holds the whole control plane until a restore or an operator's acceptance.
 */
export class Ground {
  readonly #commits: Commits;
  readonly #registry: RegistryIds;
  readonly #environment: string;
  readonly #doubts = new Map<string, Doubt>();
  #askedMs: number | undefined;
  #configLast: number | undefined;
  #registryLast: number | undefined;
  #registryCreatedNs = 0n;
  #expectedRegistry: { readonly createdNs: bigint; readonly generation: bigint } | undefined;

  constructor(commits: Commits, registry: RegistryIds, environment: string) {
    this.#commits = commits;
    this.#registry = registry;
    this.#environment = environment;
  }

  /** Why the control plane is held; empty if it is not. Valid once the readers have caught up. */
  get held(): string {
    if (this.wrongEnvironment !== "") {
      return this.wrongEnvironment;
    }
    if (this.#commits.count === 0) {
      return "CONFIG has no commit";
    }
    for (const doubt of this.#doubts.values()) {
      if (doubt.lost !== undefined) {
        return doubt.lost;
      }
    }
    return this.isAgainstCheckpoints
      ? "REGISTRY is not the one that the checkpoints were made with"
      : "";
  }

  /** True if the registry is not the one that the checkpoints were made with. */
  get isAgainstCheckpoints(): boolean {
    const expected = this.#expectedRegistry;
    return (
      expected !== undefined &&
      expected.generation === this.#commits.generation &&
      this.#registryCreatedNs !== 0n &&
      expected.createdNs !== this.#registryCreatedNs
    );
  }

  /** True while it is held, or named inputs are not there yet. */
  get isInDoubt(): boolean {
    return this.held !== "" || this.#doubts.size > 0;
  }

  /** Set if the control plane serves another environment than this process was started with. */
  get wrongEnvironment(): string {
    const served = this.#commits.environment;
    return served === "" || served === this.#environment
      ? ""
      : `the control plane serves environment "${served}", this gateway was started with "${this.#environment}"`;
  }

  /** A stored record names these inputs; `key` says whose they are and replaces the former ones. */
  name(key: string, inputs: Inputs | undefined, nowMs: number): void {
    if (inputs === undefined || this.#reaches(inputs)) {
      this.#doubts.delete(key);
    } else {
      this.#doubts.set(key, { inputs, sinceMs: nowMs, lost: this.#mismatch(inputs) });
    }
  }

  /** A checkpoint was made with this registry. */
  expectRegistry(createdNs: bigint, generation: bigint): void {
    if (createdNs !== 0n && generation >= (this.#expectedRegistry?.generation ?? 0n)) {
      this.#expectedRegistry = { createdNs, generation };
    }
  }

  /** True if the inputs last named under this key are there. */
  isSettled(key: string): boolean {
    return !this.#doubts.has(key);
  }

  /** Our readers went on: true if a doubt was settled. */
  recheck(): boolean {
    let settled = false;
    for (const [key, doubt] of this.#doubts) {
      if (this.#reaches(doubt.inputs)) {
        this.#doubts.delete(key);
        settled = true;
      } else {
        doubt.lost ??= this.#mismatch(doubt.inputs);
      }
    }
    return settled;
  }

  /** Forgets what was named: it is read anew. */
  clear(): void {
    this.#doubts.clear();
    this.#expectedRegistry = undefined;
  }

  /**
   * Asks the leaders about doubts that have lasted, and about the registry's creation while it speaks
   * against the checkpoints: the answer may have come from a stream that is no more.
   */
  ask(nowMs: number, always = false): readonly Effect[] {
    const lasting = [...this.#doubts.values()].some((doubt) => nowMs - doubt.sinceMs > PATIENCE_MS);
    if (!always && !lasting && !this.isAgainstCheckpoints) {
      return [];
    }
    this.#askedMs = nowMs;
    this.#configLast = undefined;
    this.#registryLast = undefined;
    return [
      { kind: "fork", effects: [{ kind: "stream-info", tag: CONFIG_TAG, stream: "CONFIG" }] },
      { kind: "fork", effects: [{ kind: "stream-info", tag: REGISTRY_TAG, stream: "REGISTRY" }] },
    ];
  }

  /** Takes a leader's answer; false if the message is none. */
  answer(message: Extract<Message, { kind: "stream-info" }>): boolean {
    if (message.tag === CONFIG_TAG) {
      this.#configLast = message.lastSequence;
    } else if (message.tag === REGISTRY_TAG) {
      this.#registryLast = message.lastSequence;
      // The one that happens to be there is no evidence: only a keeper's checkpoint says that it counts.
      this.#registryCreatedNs = message.createdUnixNs;
    } else {
      return false;
    }
    this.#conclude();
    return true;
  }

  #conclude(): void {
    const config = this.#configLast;
    const registry = this.#registryLast;
    const askedMs = this.#askedMs;
    if (config === undefined || registry === undefined || askedMs === undefined) {
      return;
    }
    for (const doubt of this.#doubts.values()) {
      if (doubt.sinceMs >= askedMs) {
        continue;
      }
      const { configSequence, registryRevision, generation } = doubt.inputs;
      if (configSequence > BigInt(config)) {
        doubt.lost = `a stored record names commit ${configSequence}, CONFIG ends at ${config}`;
      } else if (registryRevision > BigInt(registry)) {
        doubt.lost = `a stored record names revision ${registryRevision} of REGISTRY, which ends at ${registry}`;
      } else if (generation > this.#commits.generation && config <= this.#commits.lastSequence) {
        doubt.lost = `a stored record names generation ${generation}, CONFIG has ${this.#commits.generation}`;
      } else {
        doubt.lost = this.#mismatch(doubt.inputs);
      }
    }
  }

  /** Inputs of an earlier generation were accepted, whatever they name, by raising it. */
  #reaches(inputs: Inputs): boolean {
    if (inputs.generation !== this.#commits.generation) {
      return inputs.generation < this.#commits.generation;
    }
    return (
      this.#commits.has(inputs) && inputs.registryRevision <= BigInt(this.#registry.lastSequence)
    );
  }

  /** A commit that CONFIG has at that place, but another one: no leader has to be asked. */
  #mismatch(inputs: Inputs): string | undefined {
    const passed =
      inputs.generation === this.#commits.generation &&
      inputs.configSequence <= BigInt(this.#commits.lastSequence);
    return passed && !this.#commits.has(inputs)
      ? `a stored record names commit ${toHex(inputs.commitId).slice(0, 12)} at ${inputs.configSequence}, which CONFIG does not have`
      : undefined;
  }
}
