import { type InventoryReport, type ReportWorkloadRequest, WorkloadSource } from "@ringwall/wire";
import { workloadReport } from "./report.ts";

/** What a gateway knows of an agent beside its own words. */
export interface AgentIdentity {
  readonly id: string;
  /** Namespace of its enrolment; empty if the registry's is to be kept. */
  readonly namespace: string;
  /** True unless an enrolment allows it to create its workload. */
  readonly existingOnly: boolean;
}

/** The report of what an agent says its host serves. Labels are never an agent's to give. */
export function agentReport(
  identity: AgentIdentity,
  inventory: InventoryReport,
): ReportWorkloadRequest {
  return workloadReport({
    id: identity.id,
    source: WorkloadSource.AGENT,
    namespace: identity.namespace,
    labels: {},
    addresses: inventory.addresses,
    serviceAddresses: [],
    services: inventory.services,
    annotations: inventory.annotations,
    outbounds: inventory.outbounds,
    attributes: inventory.attributes,
    draining: inventory.draining,
    existingOnly: identity.existingOnly,
    strict: false,
  });
}
