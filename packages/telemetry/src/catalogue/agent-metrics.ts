import { counter, type MetricDescription } from "./metric.ts";

/** Metrics of a process of agents, counted over all of its workloads. */
export const AGENT_METRICS: readonly MetricDescription[] = [
  counter("ringwall_agent_acks_total", "Pushes acknowledged", {
    status: ["applied", "refused", "out_of_step"],
  }),
  counter("ringwall_agent_drift_repairs_total", "Foreign changes of the live ruleset repaired"),
  counter("ringwall_agent_host_faults_total", "Times the host could not be asked or written"),
  counter("ringwall_agent_sessions_dead_total", "Sessions ended by the gateway's silence"),
  counter("ringwall_agent_sequence_gaps_total", "Sessions begun anew because a push was missed"),
  counter("ringwall_agent_repeated_downs_total", "Pushes that came again"),
  counter("ringwall_agent_malformed_downs_total", "Messages that can't be read"),
  counter("ringwall_agent_foreign_downs_total", "Messages for another workload"),
  counter("ringwall_agent_other_session_downs_total", "Messages outside the session"),
];
