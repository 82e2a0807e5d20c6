import {
  MemoryStore,
  type PolicyRecord,
  type PolicyStore,
  type StoredState,
} from "@ringwall/agent";
import { bodyDigest } from "@ringwall/rendered";
import { type BodyDigest, EnforcementMode } from "@ringwall/wire";
import type { Estate } from "./estate.ts";

/** A version that an agent put in force. */
export interface Taken {
  readonly workload: string;
  readonly epoch: bigint;
  readonly version: bigint;
  readonly digest: string;
}

/**
 * Sees every policy that the agents of one process put in force, and says what is wrong with it the
 * moment it is: another's, an older one, a body that is not what its digest says, a weaker mode, or
 * a peer that was never declared.
 */
export class Witness {
  readonly wrong: string[] = [];
  /** Everything that was put in force, for a comparison with the log. */
  readonly taken: Taken[] = [];
  readonly #estate: Estate;
  readonly #current = new Map<string, PolicyRecord>();
  readonly #stores = new Map<string, PolicyStore>();
  readonly #known = new WeakSet<readonly string[]>();

  constructor(estate: Estate) {
    this.#estate = estate;
  }

  /** What an agent has; `place` tells apart agents with one id. */
  current(workload: string, place = ""): PolicyRecord | undefined {
    return this.#current.get(`${place}/${workload}`);
  }

  /** The store of an agent, with what it had before if it ran already. */
  store(workload: string, place = ""): PolicyStore {
    const key = `${place}/${workload}`;
    const store =
      this.#stores.get(key) ?? new WitnessedStore((record) => this.take(workload, place, record));
    this.#stores.set(key, store);
    return store;
  }

  /** A policy is in force. */
  take(workload: string, place: string, record: PolicyRecord): void {
    const { epoch, digest, policy } = record;
    const key = `${place}/${workload}`;
    const former = this.#current.get(key);
    this.#current.set(key, record);
    this.taken.push({ workload, epoch, version: policy.version, digest });
    const name = `${workload} ${epoch}/${policy.version}`;
    if (record.workload !== workload) this.wrong.push(`${name} is ${record.workload}'s`);
    if (bodyDigest(policy) !== digest) this.wrong.push(`${name} is not the body it says`);
    if (former !== undefined) this.#compare(name, former, record);
    for (const { ruleId, peerCidrs } of policy.inboundRules) {
      if (this.#known.has(peerCidrs)) continue;
      const stranger = peerCidrs.find((peer) => !this.#estate.ever.has(peer));
      if (stranger !== undefined) this.wrong.push(`${name} ${ruleId} lets ${stranger} in`);
      else this.#known.add(peerCidrs);
    }
  }

  #compare(name: string, former: PolicyRecord, record: PolicyRecord): void {
    const same = former.epoch === record.epoch && former.policy.version === record.policy.version;
    const older =
      record.epoch < former.epoch ||
      (record.epoch === former.epoch && record.policy.version < former.policy.version);
    if (older) this.wrong.push(`${name} came after ${former.epoch}/${former.policy.version}`);
    if (same && former.digest !== record.digest) this.wrong.push(`${name} has two bodies`);
    const { ENFORCED } = EnforcementMode;
    if (former.policy.mode === ENFORCED && record.policy.mode !== ENFORCED) {
      this.wrong.push(`${name} opens the host: mode ${record.policy.mode}`);
    }
  }
}

class WitnessedStore implements PolicyStore {
  readonly #store = new MemoryStore();
  readonly #saw: (record: PolicyRecord) => void;
  #prepared: PolicyRecord | undefined;

  constructor(saw: (record: PolicyRecord) => void) {
    this.#saw = saw;
  }

  probe(): Promise<void> {
    return this.#store.probe();
  }

  load(): Promise<StoredState> {
    return this.#store.load();
  }

  prepare(record: PolicyRecord): Promise<void> {
    this.#prepared = record;
    return this.#store.prepare(record);
  }

  async commit(): Promise<void> {
    await this.#store.commit();
    if (this.#prepared !== undefined) this.#saw(this.#prepared);
    this.#prepared = undefined;
  }

  saveRefused(refused: readonly BodyDigest[]): Promise<void> {
    return this.#store.saveRefused(refused);
  }
}
