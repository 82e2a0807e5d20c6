import type { Effect, Message } from "@ringwall/actor";
import type { Canonical } from "@ringwall/rendered";
import type { BodyDigest, InventoryReport, WorkloadPolicy } from "@ringwall/wire";
import type { ApplyOrder, ApplyOutcome } from "../apply.ts";
import type { CounterReading } from "../backend/backend.ts";

/** Highest level of the wire contract that this agent reads. */
export const SCHEMA_LEVEL = 1;

/** Subjects of one agent. */
export interface AgentSubjects {
  readonly hello: string;
  readonly down: string;
  readonly up: (gateway: string) => string;
}

/** What a session needs to know from outside. */
export interface AgentEnv {
  readonly workload: string;
  readonly subjects: AgentSubjects;
  /** Version of the agent, for people. */
  readonly agentVersion: string;
  /** Facts about the host, for people. */
  readonly facts: Readonly<Record<string, string>>;
}

/** What a session takes in: the actor's messages that concern it, and answers to its own effects. */
export type AgentMessage =
  | Extract<Message, { kind: "start" | "reconnected" | "stop" | "timer" | "delivery" }>
  /** Answers an apply effect. */
  | { readonly kind: "applied"; readonly outcome: ApplyOutcome }
  /** What the host serves has been read or has changed. */
  | { readonly kind: "inventory"; readonly report: InventoryReport }
  /** Answers a check-drift effect. */
  | { readonly kind: "drift"; readonly repaired: number; readonly detail: string }
  /** Answers a read-counters effect; undefined if there are none. */
  | { readonly kind: "counters"; readonly reading: CounterReading | undefined };

/** Puts a policy in force and stores it. Answers `applied`; at most one is under way. */
export interface ApplyEffect extends ApplyOrder {
  readonly kind: "apply";
}

/** Stores which bodies the host refused. No answer. */
export interface SaveRefusedEffect {
  readonly kind: "save-refused";
  readonly refused: readonly BodyDigest[];
}

/** Compares the live ruleset with the policy in force. Answers `drift`. */
export interface CheckDriftEffect {
  readonly kind: "check-drift";
  readonly policy: Canonical<WorkloadPolicy>;
}

/** Reads the traffic counters. Answers `counters`. */
export interface ReadCountersEffect {
  readonly kind: "read-counters";
}

/** What a session asks for. */
export type AgentEffect =
  | Extract<Effect, { kind: "publish" | "timer" | "cancel-timer" | "log" | "count" | "span" }>
  | ApplyEffect
  | SaveRefusedEffect
  | CheckDriftEffect
  | ReadCountersEffect;

/** Timers of a session. */
export const TIMERS = {
  hello: "hello",
  heartbeat: "heartbeat",
  drift: "drift",
  counters: "counters",
} as const;

/** Interval of heartbeats until a gateway names another one. */
export const HEARTBEAT_MS = 10_000;

/** How long repairs of the live ruleset wait to be told of together. */
export const REPAIRS_MS = 1000;

/** Silent intervals after which a session counts as dead. */
export const DEAD_INTERVALS = 3;

/** How often the live ruleset is compared. */
export const DRIFT_MS = 30_000;

/** How often traffic counters are sent. */
export const COUNTERS_MS = 60_000;
