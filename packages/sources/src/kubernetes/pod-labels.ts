import { isLabelKey, isLabelValue, LABELS_PER_WORKLOAD_MAX } from "@ringwall/labels";
import type { Pod } from "./pod.ts";

/** Label that carries a pod's namespace. */
export const NAMESPACE_LABEL = "kubernetes.io/namespace";

/** Label that carries a pod's service account. */
export const SERVICE_ACCOUNT_LABEL = "kubernetes.io/service-account";

/** Labels of a pod's workload, and the keys of those that are out of Ringwall's grammar. */
export interface PodLabels {
  readonly labels: Readonly<Record<string, string>>;
  readonly dropped: readonly string[];
}

/**
 * Labels of a pod that are in the grammar, with its namespace and service account, which nobody who
 * only writes pod labels can forge. Labels above the limit are dropped from the end of the alphabet.
 */
export function podLabels(pod: Pod): PodLabels {
  const identity = Object.entries({
    [NAMESPACE_LABEL]: pod.namespace,
    [SERVICE_ACCOUNT_LABEL]: pod.serviceAccount,
  }).filter(([, value]) => isLabelValue(value));
  const own = Object.entries(pod.labels)
    .filter(([key]) => key !== NAMESPACE_LABEL && key !== SERVICE_ACCOUNT_LABEL)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const good = own.filter(([key, value]) => isLabelKey(key) && isLabelValue(value));
  const kept = good.slice(0, LABELS_PER_WORKLOAD_MAX - identity.length);
  const keys = new Set(kept.map(([key]) => key));
  return {
    labels: Object.fromEntries([...kept, ...identity]),
    dropped: own.map(([key]) => key).filter((key) => !keys.has(key)),
  };
}
