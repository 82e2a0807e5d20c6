import { bodyDigest, type Canonical } from "@ringwall/rendered";
import type { BodyDigest, WorkloadPolicy } from "@ringwall/wire";
import type { BackendResult, CounterReading, DriftReport, EnforcementBackend } from "./backend.ts";

/**
 * Enforces nothing and remembers what it was told: for simulation and for measuring delivery.
 * `refuses` names bodies that this host can't install.
 */
export class MemoryBackend implements EnforcementBackend {
  readonly name = "memory";
  /** Bodies that are refused. */
  readonly refuses = new Set<BodyDigest>();
  /** Installs that were made. */
  installs = 0;
  #policy: Canonical<WorkloadPolicy> | undefined;

  /** What is in force. */
  get policy(): Canonical<WorkloadPolicy> | undefined {
    return this.#policy;
  }

  check(policy: Canonical<WorkloadPolicy>): Promise<BackendResult> {
    return Promise.resolve(this.#judge(policy));
  }

  install(policy: Canonical<WorkloadPolicy>): Promise<BackendResult> {
    const result = this.#judge(policy);
    if (result.ok) {
      this.#policy = policy;
      this.installs += 1;
    }
    return Promise.resolve(result);
  }

  current(): Promise<BodyDigest | undefined> {
    return Promise.resolve(this.#policy === undefined ? undefined : bodyDigest(this.#policy));
  }

  remove(): Promise<void> {
    this.#policy = undefined;
    return Promise.resolve();
  }

  counters(): Promise<CounterReading | undefined> {
    return Promise.resolve(undefined);
  }

  drift(expected: Canonical<WorkloadPolicy>): Promise<DriftReport> {
    const same = this.#policy !== undefined && bodyDigest(this.#policy) === bodyDigest(expected);
    this.#policy = expected;
    return Promise.resolve(
      same ? { repaired: 0, detail: "" } : { repaired: 1, detail: "policy was not in force" },
    );
  }

  #judge(policy: Canonical<WorkloadPolicy>): BackendResult {
    if (this.refuses.size > 0 && this.refuses.has(bodyDigest(policy))) {
      return { ok: false, detail: "memory backend was told to refuse this body" };
    }
    return { ok: true, detail: "" };
  }
}
