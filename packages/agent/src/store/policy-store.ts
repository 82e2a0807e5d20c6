import type { BodyDigest } from "@ringwall/wire";
import type { PolicyRecord } from "../record.ts";

/** What a store holds at boot. */
export interface StoredState {
  /** The last good policy, or the one before it if the last is damaged; undefined if neither is. */
  readonly record: PolicyRecord | undefined;
  /** Bodies that the host refused, oldest first. */
  readonly refused: readonly BodyDigest[];
  /** What was damaged and what is used instead, one sentence each; empty on a healthy start. */
  readonly faults: readonly string[];
}

/**
 * Keeps the last good policy and the one before it. Storing takes two steps, so that a store that
 * can't be written is found before the kernel is touched, and a policy counts as good only once it
 * is in force. Failures reject with an AgentError of code `store-unwritable`.
 */
export interface PolicyStore {
  /** Proves that the store can be written. */
  probe(): Promise<void>;
  /** Reads what is there; damage is reported, never thrown. */
  load(): Promise<StoredState>;
  /** Writes a policy beside the last good one. */
  prepare(record: PolicyRecord): Promise<void>;
  /** Makes the prepared policy the last good one; the former becomes the one before. */
  commit(): Promise<void>;
  /** Remembers which bodies the host refused. */
  saveRefused(refused: readonly BodyDigest[]): Promise<void>;
}
