import { create } from "@bufbuild/protobuf";
import {
  type ReportWorkloadRequest,
  ReportWorkloadRequestSchema,
  type WorkloadSource,
} from "@ringwall/wire";

/**
 * Everything that a source says of a workload. No member is optional: a source that has nothing to
 * say about one has to say so.
 */
export interface Described {
  readonly id: string;
  readonly source: WorkloadSource;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Interface addresses as the source sees them. */
  readonly addresses: readonly string[];
  /** Addresses that serve its services if they are not its own; empty means its own. */
  readonly serviceAddresses: readonly string[];
  /** Service keys, each read with the annotations below. */
  readonly services: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly outbounds: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  /** Leaving, or not ready: a peer, but no route endpoint. */
  readonly draining: boolean;
  /** Must not create a workload that the registry does not know. */
  readonly existingOnly: boolean;
  /** Refuse instead of warn on problems of the strict check. */
  readonly strict: boolean;
}

/** The report of a described workload: what every source goes through. */
export function workloadReport(described: Described): ReportWorkloadRequest {
  return create(ReportWorkloadRequestSchema, {
    id: described.id,
    source: described.source,
    namespace: described.namespace,
    labels: sorted(described.labels),
    addresses: [...described.addresses],
    serviceAddresses: [...described.serviceAddresses],
    services: [...described.services],
    annotations: sorted(described.annotations),
    outbounds: [...described.outbounds],
    attributes: sorted(described.attributes),
    draining: described.draining,
    existingOnly: described.existingOnly,
    strict: described.strict,
  });
}

function sorted(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}
