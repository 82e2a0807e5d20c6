import { counter, gauge, histogram, type MetricDescription } from "./metric.ts";

/** Metrics of the agent-gateway. */
export const GATEWAY_METRICS: readonly MetricDescription[] = [
  histogram("ringwall_convergence_seconds", "From a stored commit to each agent's acknowledgement"),
  histogram("ringwall_push_ack_seconds", "From a push to its acknowledgement"),
  gauge("ringwall_agents", "Sessions of this instance by state", {
    state: ["synced", "pending", "degraded", "held", "unknown", "removed"],
  }),
  gauge("ringwall_unacked_pushes", "Pushes that wait for their acknowledgement"),
  counter("ringwall_pushes_total", "Pushes sent", { kind: ["snapshot", "delta"] }),
  counter("ringwall_coalesced_pushes_total", "Changes that went with a later one"),
  counter("ringwall_refusals_total", "Policies that hosts refused"),
  counter("ringwall_parked_total", "Policies parked: they are not sent to that host again"),
  counter("ringwall_out_of_step_total", "Pushes whose base, digest or sequence did not match"),
  counter("ringwall_sessions_opened_total", "Sessions opened"),
  counter("ringwall_sessions_dead_total", "Sessions ended by silence"),
  counter("ringwall_superseded_sessions_total", "Sessions ended by a newer one"),
  counter("ringwall_gateways_gone_total", "Other gateways that fell silent"),
  counter(
    "ringwall_orphaned_hellos_total",
    "Hellos taken because the gateway they reached is stuck",
  ),
  counter("ringwall_repeated_hellos_total", "Hellos that came again"),
  counter("ringwall_other_session_ups_total", "Messages of agents outside their session"),
  counter("ringwall_malformed_ups_total", "Messages of agents that can't be read"),
  counter("ringwall_malformed_records_total", "Stored records that can't be read", {
    log: ["config", "versions"],
  }),
  counter("ringwall_claims_total", "Claims of agents put to the keeper", {
    result: ["refused", "moved", "fits"],
  }),
  counter("ringwall_reports_total", "Reports of agents put to the registrar", {
    result: ["stored", "refused", "retried"],
  }),
  gauge("ringwall_reports_pending", "Reports that wait for the registrar"),
  counter("ringwall_would_drop_reports_total", "Flows that simulating hosts would have dropped"),
  gauge("ringwall_bodies_pending", "Policies whose content is being read"),
  gauge("ringwall_content_missing", "Objects that CONTENT does not have"),
  gauge("ringwall_content_corrupt", "Policies whose content does not fit its digest"),
  counter("ringwall_content_wants_total", "Objects asked of whoever holds them"),
];
