import { counter, gauge, type MetricDescription } from "./metric.ts";

const MESSAGES = [
  "start",
  "reconnected",
  "stop",
  "record",
  "caught-up",
  "reader-lost",
  "delivery",
  "appended",
  "response",
  "read",
  "stream-info",
  "trimmed",
  "failed",
  "timer",
  "again",
] as const;

/** Metrics of each of the four services. */
export const SERVICE_METRICS: readonly MetricDescription[] = [
  gauge("ringwall_ready", "1 while the instance serves, as /readyz says"),
  gauge("ringwall_bus_connected", "1 while NATS is connected"),
  gauge("ringwall_mailbox_depth", "Messages that wait for the actor"),
  gauge("ringwall_mailbox_dropped", "Core messages dropped since the start: too many waited"),
  counter("ringwall_actor_slow_steps_total", "Steps of the actor above 10 ms", {
    kind: MESSAGES,
  }),
  counter("ringwall_bus_publish_dropped_total", "Core messages not sent while NATS was away"),
];

/** Metrics of the services that share work by slots. */
export const SLOT_METRICS: readonly MetricDescription[] = [
  gauge("ringwall_slots_owned", "Slots that the instance owns"),
];

/** 1 while the control plane is held, on what the instance itself knows. */
export const HELD_METRIC = gauge(
  "ringwall_held",
  "1 while the control plane is held: nothing is rendered or pushed, hosts keep their policy",
);
