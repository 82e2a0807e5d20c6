import { counter, FAILURES, gauge, histogram, type MetricDescription } from "./metric.ts";

/** Metrics of the renderer. */
export const RENDERER_METRICS: readonly MetricDescription[] = [
  histogram("ringwall_render_seconds", "From the end of a window to its rendered policies"),
  histogram("ringwall_render_emit_seconds", "From a rendered partition to its stored batch"),
  gauge("ringwall_render_workloads", "Workloads that the last render saw"),
  gauge("ringwall_render_skipped_rows", "Endpoint rows that the last render could not use"),
  counter("ringwall_render_changed_total", "Policies changed or removed by renders"),
  counter("ringwall_render_batches_total", "Batches stored", { kind: ["full", "delta"] }),
  counter("ringwall_render_blocked_total", "Full batches put off: a record can't be read"),
  counter("ringwall_render_reloads_total", "Partitions read anew after a failed write", {
    reason: FAILURES,
  }),
  counter("ringwall_render_lives_total", "Times everything was read anew: a stream is another one"),
  counter("ringwall_mark_failures_total", "Marks of enforcement that were not answered", {
    reason: FAILURES,
  }),
  counter("ringwall_content_put_total", "Objects of policies stored"),
  counter("ringwall_registry_unreadable_total", "Registry records that this build can't read"),
  counter("ringwall_unreadable_requests_total", "Requests that can't be read", {
    type: ["ContentWant", "FullBatchWant"],
  }),
];
