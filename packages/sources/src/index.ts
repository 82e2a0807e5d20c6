export { type AgentIdentity, agentReport } from "./agent.ts";
export { type DeclaredWorkload, declaredReport } from "./declared.ts";
export {
  type KubernetesChanges,
  KubernetesModel,
  type KubernetesProblem,
} from "./kubernetes/kubernetes-model.ts";
export { type KubernetesReports, kubernetesReports } from "./kubernetes/kubernetes-reports.ts";
export { NAMESPACE_LABEL, SERVICE_ACCOUNT_LABEL } from "./kubernetes/pod-labels.ts";
export { podWorkloadId } from "./kubernetes/workload-id.ts";
export { type Described, workloadReport } from "./report.ts";
