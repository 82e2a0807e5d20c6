import { Buffer } from "node:buffer";
import { labelProblems } from "@ringwall/labels";
import { LIMITS } from "@ringwall/render";
import { type ReportWorkloadRequest, WorkloadSource } from "@ringwall/wire";
import { REPORT_LIMITS } from "./limits.ts";
import { isWorkloadId } from "./registry-key.ts";

const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Why a report can't be taken at all, every reason at once; empty if it can. */
export function reportFaults(request: ReportWorkloadRequest): string[] {
  const faults = [...idFaults(request.id), ...namespaceFaults(request.namespace)];
  if (!isSource(request.source)) {
    faults.push(
      `source ${request.source} is unknown; name agent, inventory, kubernetes or operator`,
    );
  }
  if (request.source !== WorkloadSource.AGENT) {
    faults.push(...labelFaults(request.labels));
  }
  faults.push(
    ...countFault("services", request.services.length, REPORT_LIMITS.services),
    ...countFault("outbounds", request.outbounds.length, REPORT_LIMITS.outbounds),
    ...countFault("addresses", request.addresses.length, REPORT_LIMITS.addresses),
    ...countFault("service addresses", request.serviceAddresses.length, REPORT_LIMITS.addresses),
    ...attributeFaults(request.attributes),
  );
  const bytes = mapBytes(request.annotations);
  if (bytes > LIMITS.annotationsBytes) {
    faults.push(`annotations have ${bytes} bytes, at most ${LIMITS.annotationsBytes} are allowed`);
  }
  return faults;
}

/** Why a text is no workload id. */
export function idFaults(id: string): string[] {
  return isWorkloadId(id)
    ? []
    : [`workload id ${JSON.stringify(id.slice(0, 80))} is not allowed: 1 to 64 of [a-z0-9_-]`];
}

/** Why labels are not allowed. */
export function labelFaults(labels: Readonly<Record<string, string>>): string[] {
  return labelProblems(labels).map((problem) => problem.message);
}

/** Why a namespace is not allowed; the empty one is. */
export function namespaceFaults(namespace: string): string[] {
  return namespace === "" || NAMESPACE.test(namespace)
    ? []
    : [`namespace ${JSON.stringify(namespace.slice(0, 80))} is not allowed: an RFC 1123 label`];
}

function isSource(source: WorkloadSource): boolean {
  return (
    source === WorkloadSource.AGENT ||
    source === WorkloadSource.INVENTORY ||
    source === WorkloadSource.KUBERNETES ||
    source === WorkloadSource.OPERATOR
  );
}

function countFault(what: string, actual: number, allowed: number): string[] {
  return actual > allowed ? [`${actual} ${what}, at most ${allowed} are allowed`] : [];
}

function attributeFaults(attributes: Readonly<Record<string, string>>): string[] {
  const entries = Object.entries(attributes);
  const long = entries
    .filter((entry) => entry.some((text) => text.length > REPORT_LIMITS.attributeBytes))
    .map(([key]) => `attribute ${key.slice(0, 80)} is longer than ${REPORT_LIMITS.attributeBytes}`);
  return [...countFault("attributes", entries.length, REPORT_LIMITS.attributes), ...long];
}

function mapBytes(map: Readonly<Record<string, string>>): number {
  return Object.entries(map).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
}
