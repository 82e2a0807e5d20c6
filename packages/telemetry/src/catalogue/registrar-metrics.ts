import { counter, FAILURES, gauge, type MetricDescription } from "./metric.ts";

const ROW_REASONS = ["no_port_protocols", "port_not_typed", "port_not_listed"] as const;
const LAPSES = ["stale", "expired"] as const;

/** Metrics of the registrar. */
export const REGISTRAR_METRICS: readonly MetricDescription[] = [
  gauge("ringwall_registry_workloads", "Workloads in the registry"),
  gauge("ringwall_registry_revision", "Revision that the instance has folded"),
  gauge("ringwall_registry_unreadable", "Records that this build can't read"),
  gauge("ringwall_registry_foreign_keys", "Keys of the bucket that are no workload's"),
  gauge("ringwall_refused_rows", "Stored endpoint rows that are not used now", {
    reason: ROW_REASONS,
  }),
  counter("ringwall_refused_rows_total", "Stored endpoint rows read that are not used", {
    reason: ROW_REASONS,
  }),
  counter("ringwall_rejected_rows_total", "Rows and annotations of reports that were refused", {
    code: [
      "address_not_allowed",
      "no_port_protocols",
      "outbound",
      "port",
      "port-conflict",
      "port-protocol-suffix",
      "port-reserved",
      "port-zero",
      "port_not_listed",
      "port_not_typed",
      "ports-entry",
      "primary-retyped",
      "protocol",
      "service-key",
      "service_not_allowed",
      "unknown-annotation",
      "weight",
    ],
  }),
  gauge("ringwall_contested_addresses", "Addresses that several live workloads claim"),
  gauge("ringwall_registrar_watches", "Open watches of workloads"),
  gauge("ringwall_registrar_leases", "Workloads by lease; only on the lease owner", {
    stage: ["live", "stale", "expired"],
  }),
  counter("ringwall_registrar_lapses_total", "Leases that ran out", { stage: LAPSES }),
  counter("ringwall_registrar_lease_regrants_total", "Times everybody got a full lease again", {
    reason: ["pause", "blind"],
  }),
  gauge("ringwall_mass_expiry", "1 while mass silence is taken for a fault and marks nobody", {
    stage: LAPSES,
  }),
  counter("ringwall_registrar_failed_writes_total", "Writes of the registry that failed", {
    code: FAILURES,
  }),
  counter("ringwall_registrar_unreadable_batches_total", "Lease batches that can't be read"),
];
