import type { Canonical } from "@ringwall/rendered";
import type { BodyDigest, Protocol, WorkloadPolicy } from "@ringwall/wire";

/** What became of a check or an install. A refusal is about the policy and carries the host's words. */
export type BackendResult =
  | { readonly ok: true; readonly detail: string }
  | { readonly ok: false; readonly detail: string };

/** One flow that enforced mode would deny. */
export interface WouldDropReading {
  readonly source: string;
  readonly protocol: Protocol;
  readonly port: number;
  readonly packets: bigint;
}

/** Traffic counters since the policy was installed. */
export interface CounterReading {
  /** Packets per rule id. */
  readonly rulePackets: ReadonlyMap<string, bigint>;
  /** At most 100, newest last. */
  readonly wouldDrops: readonly WouldDropReading[];
}

/** What a comparison of the live ruleset with the expected one found and repaired. */
export interface DriftReport {
  /** Differences that were repaired. */
  readonly repaired: number;
  /** What differed, for people; empty if nothing did. */
  readonly detail: string;
}

/**
 * Where a policy takes effect. Every method is called by one caller at a time. A fault of the host
 * (no nft, no permission, no space) rejects with an AgentError of code `backend-unavailable`; only
 * what is wrong with the policy itself answers `ok: false`.
 */
export interface EnforcementBackend {
  /** Short name, shown in facts and status. */
  readonly name: string;
  /** True if the host would take the policy; changes nothing. */
  check(policy: Canonical<WorkloadPolicy>): Promise<BackendResult>;
  /**
   * Puts the policy in force in one transaction; on a refusal what was in force stays. `previous` is
   * what this backend installed last, for a backend that can make a smaller step from it.
   */
  install(
    policy: Canonical<WorkloadPolicy>,
    previous?: Canonical<WorkloadPolicy>,
  ): Promise<BackendResult>;
  /** Digest of the body in force as far as the host tells; undefined if nothing is. */
  current(): Promise<BodyDigest | undefined>;
  /** Takes everything away that it installed. */
  remove(): Promise<void>;
  /** Counters of the policy in force; undefined if the backend keeps none. */
  counters(): Promise<CounterReading | undefined>;
  /** Compares what is live with `expected` and repairs a difference. */
  drift(expected: Canonical<WorkloadPolicy>): Promise<DriftReport>;
  /**
   * Calls back when somebody else changes what is in force, until the returned function is called; a
   * backend that can't tell has no such method, and drift is found by the periodic comparison alone.
   */
  watch?(changed: () => void): () => void;
}
