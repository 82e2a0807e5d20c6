import type { Moment, Outbox, Tasks } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";

/** Intervals and sizes of the version-keeper; each has a default. */
export interface KeeperOptions {
  /** Records of a partition after which a checkpoint is due. Default 1,000. */
  readonly checkpointRecords: number;
  /** Time after which a checkpoint is due if anything was recorded. Default 10 min. */
  readonly checkpointMs: number;
  /** How often it is looked whether a checkpoint is due. Default 10 s. */
  readonly checkpointLookMs: number;
  /** Age below which records of VERSIONS are not trimmed. Default 7 days. */
  readonly trimAfterMs: number;
  /** How often the streams are asked whether they are still what the records name. Default 10 s. */
  readonly heldCheckMs: number;
  /** First wait before a full batch is asked for again; doubles up to 16 times of it. Default 2 s. */
  readonly wantFullMs: number;
  /** How long a reader may lag behind a stream's leader before a request is given up. Default 5 s. */
  readonly catchUpMs: number;
  /** Time between two rounds of content collection. Default 1 h. */
  readonly collectMs: number;
  /** Age that content must have before it is deleted. Default 6 h. */
  readonly collectAfterMs: number;
  /** Age up to which every body of the log is kept. Default 24 h. */
  readonly keepBodiesMs: number;
}

/** The defaults. */
export const DEFAULT_OPTIONS: KeeperOptions = {
  checkpointRecords: 1_000,
  checkpointMs: 10 * 60 * 1000,
  checkpointLookMs: 10_000,
  trimAfterMs: 7 * 24 * 60 * 60 * 1000,
  heldCheckMs: 10_000,
  wantFullMs: 2_000,
  catchUpMs: 5_000,
  collectMs: 60 * 60 * 1000,
  collectAfterMs: 6 * 60 * 60 * 1000,
  keepBodiesMs: 24 * 60 * 60 * 1000,
};

/** What every part of the keeper works with. */
export interface KeeperContext {
  readonly names: Names;
  readonly instance: string;
  /** Environment that this instance was started for. */
  readonly environment: string;
  readonly options: KeeperOptions;
  readonly outbox: Outbox;
  readonly tasks: Tasks;
  /** The moment of the present step. */
  readonly moment: () => Moment;
  /** Share of the commits that came without a trace and begin one. */
  readonly traceRatio: number;
  /** A new id of a fenced write. */
  readonly nextWrite: () => string;
}

/** Adds one to a counter. */
export function count(
  context: KeeperContext,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): void {
  context.outbox.add({ kind: "count", name, labels });
}

/** Writes a log line. */
export function log(
  context: KeeperContext,
  level: "debug" | "info" | "warn" | "error",
  message: string,
  fields: Readonly<Record<string, string | number | boolean>> = {},
  trace?: string,
): void {
  const traced = trace === undefined ? {} : { trace };
  context.outbox.add({ kind: "log", level, message, fields, ...traced });
}
