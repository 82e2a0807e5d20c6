import { counter, type MetricDescription } from "./metric.ts";

/** Metrics of the version-keeper. */
export const KEEPER_METRICS: readonly MetricDescription[] = [
  counter("ringwall_commits_total", "Commits stored"),
  counter("ringwall_commit_conflicts_total", "Commits refused: someone else applied meanwhile"),
  counter("ringwall_commit_fence_lost_total", "Commits judged again: another record came between"),
  counter("ringwall_config_strays_total", "Commits that do not follow the head: they do not count"),
  counter("ringwall_config_unreadable_total", "Records of CONFIG that this build can't read"),
  counter("ringwall_versions_advanced_total", "Policies that got their next version"),
  counter("ringwall_versions_malformed_total", "Records of VERSIONS that can't be read"),
  counter("ringwall_epochs_begun_total", "Epochs begun: a partition's log began anew"),
  counter("ringwall_claims_overruled_total", "Heads moved above an agent's contradicting claim"),
  counter("ringwall_claims_malformed_total", "Claims of gateways that can't be read"),
  counter("ringwall_keeper_batches_ignored_total", "Rendered batches that were not taken", {
    reason: ["malformed", "below", "not-full", "unknown-commit"],
  }),
  counter("ringwall_keeper_reopens_total", "Partitions opened anew after a failed write", {
    reason: ["fence-lost", "effect-failed"],
  }),
  counter("ringwall_checkpoints_total", "Checkpoints written", { kind: ["config", "version"] }),
  counter("ringwall_checkpoints_failed_total", "Checkpoints that could not be written"),
  counter("ringwall_checkpoints_malformed_total", "Checkpoints that can't be read"),
  counter("ringwall_log_trims_total", "Logs trimmed below a checkpoint"),
  counter("ringwall_content_rounds_total", "Rounds of content collection"),
  counter("ringwall_content_deleted_total", "Objects deleted because nothing names them"),
  counter("ringwall_content_damaged_total", "Objects whose bytes do not fit their digest"),
  counter("ringwall_content_wanted_total", "Objects asked of whoever holds them"),
  counter("ringwall_api_failures_total", "Operations that ended with an error", {
    operation: [
      "config.blob",
      "config.get-blob",
      "config.commit",
      "config.tree",
      "config.commits",
      "config.accept",
      "policy.get",
      "policy.history",
    ],
    code: [
      "conflict",
      "held",
      "invalid",
      "not_found",
      "refused",
      "too_large",
      "unavailable",
      "wrong_environment",
    ],
  }),
];
