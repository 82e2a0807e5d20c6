import { type ReportWorkloadRequest, WorkloadSource } from "@ringwall/wire";
import { workloadReport } from "./report.ts";

/** A workload as an inventory or an estate file declares it. */
export interface DeclaredWorkload {
  readonly id: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  readonly services: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly outbounds: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  /** Default false. */
  readonly draining?: boolean;
}

/** The report of a declared workload. */
export function declaredReport(
  workload: DeclaredWorkload,
  options: { readonly strict?: boolean } = {},
): ReportWorkloadRequest {
  return workloadReport({
    ...workload,
    source: WorkloadSource.INVENTORY,
    serviceAddresses: [],
    draining: workload.draining ?? false,
    existingOnly: false,
    strict: options.strict ?? false,
  });
}
