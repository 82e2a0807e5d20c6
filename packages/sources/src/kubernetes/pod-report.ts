import { isServiceKey } from "@ringwall/endpointmeta";
import { type ReportWorkloadRequest, WorkloadSource } from "@ringwall/wire";
import { workloadReport } from "../report.ts";
import type { Pod } from "./pod.ts";
import { declaresEndpoint, podAnnotations } from "./pod-annotations.ts";
import { podLabels } from "./pod-labels.ts";
import type { Service } from "./service.ts";
import { podWorkloadId } from "./workload-id.ts";

/**
 * The report of a running pod, with the services that select it. A pod that is not ready or is being
 * deleted stays a peer and takes no connections. A pod on its node's network has no address of its
 * own: it serves at the node's, and is nobody's peer, for everything on that node would be one.
 */
export function podReport(
  pod: Pod,
  services: readonly Service[],
  options: { readonly strict: boolean },
): ReportWorkloadRequest {
  return workloadReport({
    id: podWorkloadId(pod.namespace, pod.name),
    source: WorkloadSource.KUBERNETES,
    namespace: pod.namespace,
    labels: podLabels(pod).labels,
    addresses: pod.hostNetwork ? [] : pod.ips,
    serviceAddresses: pod.hostNetwork ? pod.ips : [],
    services: serviceKeys(pod, services),
    annotations: podAnnotations(pod, services),
    outbounds: [],
    attributes: { namespace: pod.namespace, node: pod.node, pod: pod.name, uid: pod.uid },
    draining: pod.deleting || !pod.ready,
    existingOnly: false,
    strict: options.strict,
  });
}

/**
 * Keys of the services that a pod serves: those that select it, and the one of its service account
 * if the pod declares an endpoint. The account `default` is shared by whatever names none, so it
 * stands for no service.
 */
function serviceKeys(pod: Pod, services: readonly Service[]): string[] {
  const account = `${pod.namespace}/${pod.serviceAccount}`;
  const own =
    pod.serviceAccount !== "default" && declaresEndpoint(pod) && isServiceKey(account)
      ? [account]
      : [];
  const selecting = services.map((service) => `${service.namespace}/${service.name}`);
  return [...new Set([...own, ...selecting])].sort();
}
