import type { ApplyOutcome, BootState, PolicyRecord } from "@ringwall/agent";
import { bodyDigest } from "@ringwall/rendered";
import type { BodyDigest } from "@ringwall/wire";

/** Told whenever what is in a host's kernel changes. */
export interface HostWatcher {
  /** `how` says whether a push was applied or a boot put the stored policy back. */
  installed(host: Host, before: PolicyRecord | undefined, how: "apply" | "boot"): void;
}

/**
 * One host as its agent sees it: a disk that survives everything, a kernel that survives the agent's
 * process, and a will of its own. It does in order what the agent's driver does.
 */
export class Host {
  readonly workload: string;
  readonly #watcher: HostWatcher;
  readonly #refuses = new Set<BodyDigest>();
  readonly #images: (PolicyRecord | undefined)[] = [];
  #prepared: PolicyRecord | undefined;
  #stored: PolicyRecord | undefined;
  #refusedStored: readonly BodyDigest[] = [];
  #kernel: PolicyRecord | undefined;
  #refusesNext = false;
  /** False while its state directory can't be written. */
  writable = true;
  /** Milliseconds that each part of an apply takes. */
  applyMs = 0;

  constructor(workload: string, watcher: HostWatcher) {
    this.workload = workload;
    this.#watcher = watcher;
  }

  /** What is in force. */
  get kernel(): PolicyRecord | undefined {
    return this.#kernel;
  }

  /** The last good policy on disk. */
  get stored(): PolicyRecord | undefined {
    return this.#stored;
  }

  /** Refused bodies that are remembered on disk. */
  get refusedStored(): readonly BodyDigest[] {
    return this.#refusedStored;
  }

  /** Bodies that it does not take. */
  get refusedEver(): ReadonlySet<BodyDigest> {
    return this.#refuses;
  }

  /** It refuses the next body that differs from what is in force. */
  refuseNext(): void {
    this.#refusesNext = true;
  }

  /** First part of an apply: written beside the last good policy. Undefined if that went well. */
  prepare(record: PolicyRecord): ApplyOutcome | undefined {
    if (!this.writable) {
      return unwritable(false);
    }
    this.#prepared = record;
    return undefined;
  }

  /** Second part: checked and installed in one transaction. */
  install(record: PolicyRecord, how: "apply" | "boot" = "apply"): ApplyOutcome | undefined {
    if (this.#refusesNext && how === "apply" && this.#kernel?.digest !== record.digest) {
      this.#refusesNext = false;
      this.#refuses.add(record.digest);
    }
    if (this.#refuses.has(bodyDigest(record.policy))) {
      return { kind: "refused", detail: "this host can't install that body" };
    }
    this.#put(record, how);
    return undefined;
  }

  /** Third part: the prepared policy is the last good one. */
  commit(installed: boolean): ApplyOutcome {
    if (!this.writable) {
      return unwritable(!installed);
    }
    this.#stored = this.#prepared ?? this.#stored;
    this.#prepared = undefined;
    this.#images.push(this.#stored);
    if (installed && this.#stored !== undefined) {
      // The body was in force before; it is known by another version now.
      this.#put(this.#stored, "apply");
    }
    return { kind: "applied" };
  }

  /** Remembers which bodies were refused. */
  saveRefused(refused: readonly BodyDigest[]): void {
    if (this.writable) {
      this.#refusedStored = refused;
    }
  }

  /** What a process that begins on this host finds, after it has put the last good policy in force. */
  boot(): BootState {
    this.#prepared = undefined;
    const record = this.#stored;
    const refused = this.#refusedStored;
    if (record === undefined) {
      return { record, installed: false, refused, faults: [] };
    }
    const refusal = this.install(record, "boot");
    return { record, installed: refusal === undefined, refused, faults: [] };
  }

  /** The machine restarts: nothing is in force until its agent boots. */
  reboot(): void {
    this.#kernel = undefined;
  }

  /** The machine comes back from an image that was taken earlier. */
  oldImage(chance: () => number): void {
    this.#kernel = undefined;
    this.#stored = this.#images[Math.floor(chance() * this.#images.length)];
    this.#refusedStored = [];
  }

  #put(record: PolicyRecord, how: "apply" | "boot"): void {
    const before = this.#kernel;
    this.#kernel = record;
    this.#watcher.installed(this, before, how);
  }
}

function unwritable(mayBeInForce: boolean): ApplyOutcome {
  return { kind: "failed", detail: "the state directory can't be written", mayBeInForce };
}
