import type { Canonical } from "@ringwall/rendered";
import type { WorkloadPolicy } from "@ringwall/wire";
import type { EnforcementBackend } from "./backend/backend.ts";
import { AgentError } from "./errors.ts";
import type { PolicyRecord } from "./record.ts";
import type { PolicyStore } from "./store/policy-store.ts";

/**
 * How an apply ended. `failed` says nothing about the policy: this host could not try it, or, where
 * `mayBeInForce`, could not store it after the backend was asked to install it.
 */
export type ApplyOutcome =
  | { readonly kind: "applied" }
  | { readonly kind: "refused"; readonly detail: string }
  | { readonly kind: "failed"; readonly detail: string; readonly mayBeInForce: boolean };

/** What to put in force. */
export interface ApplyOrder {
  readonly record: PolicyRecord;
  /** What this process installed last; undefined if it has to be installed whole. */
  readonly previous: Canonical<WorkloadPolicy> | undefined;
  /** True if the body is in force already and only has to be stored. */
  readonly installed: boolean;
}

/**
 * Puts a policy in force: written beside the last good one, compiled and checked, installed in one
 * transaction, then made the last good one. A refused install leaves ruleset and files as they were.
 * An unwritable store is found before the backend is asked anything. Never rejects.
 */
export async function applyPolicy(
  backend: EnforcementBackend,
  store: PolicyStore,
  order: ApplyOrder,
): Promise<ApplyOutcome> {
  let mayBeInForce = false;
  try {
    await store.prepare(order.record);
    if (!order.installed) {
      mayBeInForce = true;
      const refusal = await install(backend, order);
      if (refusal !== undefined) {
        return refusal;
      }
    }
    await store.commit();
    return { kind: "applied" };
  } catch (thrown) {
    const { message: detail } = AgentError.from(thrown, "backend-unavailable");
    return { kind: "failed", detail, mayBeInForce };
  }
}

async function install(
  backend: EnforcementBackend,
  order: ApplyOrder,
): Promise<ApplyOutcome | undefined> {
  const checked = await backend.check(order.record.policy);
  if (!checked.ok) {
    return { kind: "refused", detail: checked.detail };
  }
  const installed = await backend.install(order.record.policy, order.previous);
  return installed.ok ? undefined : { kind: "refused", detail: installed.detail };
}
