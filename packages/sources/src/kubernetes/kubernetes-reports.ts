import type { ReportWorkloadRequest } from "@ringwall/wire";
import { KubernetesModel, type KubernetesProblem } from "./kubernetes-model.ts";

/** What a document of Kubernetes objects says. */
export interface KubernetesReports {
  /** One report for each workload, in byte order of the ids. */
  readonly reports: readonly ReportWorkloadRequest[];
  readonly problems: readonly KubernetesProblem[];
}

/**
 * Reads parsed JSON of pods and services, as `kubectl get pods,svc -A -o json` prints it: a list, a
 * typed list or one object. Other kinds are passed over.
 */
export function kubernetesReports(
  document: unknown,
  options: { readonly strict?: boolean } = {},
): KubernetesReports {
  const model = new KubernetesModel(options);
  model.put(document);
  return { reports: model.reports(), problems: model.problems };
}
