import type { BodyDigest } from "@ringwall/wire";
import type { EnforcementBackend } from "./backend/backend.ts";
import { AgentError } from "./errors.ts";
import type { PolicyRecord } from "./record.ts";
import type { PolicyStore } from "./store/policy-store.ts";

/** What an agent begins with. */
export interface BootState {
  /** Policy that the agent remembers; undefined if it has none. */
  readonly record: PolicyRecord | undefined;
  /** True if that policy is in force on the host. */
  readonly installed: boolean;
  /** Bodies that the host refused. */
  readonly refused: readonly BodyDigest[];
  /** What went wrong, one sentence each. */
  readonly faults: readonly string[];
}

/**
 * Puts the last good policy in force before anything is dialled. A policy that the backend does not
 * take stays remembered, with `installed` false. A state directory that can't be written is a fault
 * beside a stored policy, since a full disk must not leave a host without its rules; without one
 * there is nothing to keep in force, and it rejects with `store-unwritable`.
 */
export async function boot(store: PolicyStore, backend: EnforcementBackend): Promise<BootState> {
  const stored = await store.load();
  if (stored.record === undefined) {
    await store.probe();
    return { ...stored, installed: false };
  }
  const faults = [...stored.faults];
  let installed = false;
  try {
    const result = await backend.install(stored.record.policy);
    installed = result.ok;
    if (!result.ok) {
      faults.push(`the stored policy was refused: ${result.detail}`);
    }
  } catch (thrown) {
    faults.push(AgentError.from(thrown, "backend-unavailable").message);
  }
  await store.probe().catch((thrown: unknown) => {
    faults.push(AgentError.from(thrown, "store-unwritable").message);
  });
  return { record: stored.record, installed, refused: stored.refused, faults };
}
