import type { PlaneOptions } from "./lab/control-plane.ts";
import type { Trial } from "./trial.ts";

/** How large a run is: `ci` ends within a few minutes on two cores. */
export type Size = "ci" | "full";

/** What a scenario measured; everything else is judged by the runner. */
export interface Measured {
  /** Milliseconds from the fault, or from its end where nothing goes on before, until all at head. */
  readonly toHeadMs: number;
  /** What else is worth telling. */
  readonly note?: string;
}

/**
 * What a scenario runs on: `shared` by all that leave it as it was, `fresh` one of its own, `cluster`
 * three servers, `proxied` with a proxy before the services, `proxied-agents` before the agents,
 * `small-disk` with a store that can be filled up.
 */
export type GroundKind =
  | "shared"
  | "fresh"
  | "cluster"
  | "proxied"
  | "proxied-agents"
  | "small-disk";

/** A fault, and what goes on while it lasts. */
export interface Scenario {
  readonly name: string;
  /** The fault in a few words. */
  readonly fault: string;
  /** True if only a full run has it. */
  readonly fullOnly?: boolean;
  /** Agents in this process; default a few dozens. */
  agents?(size: Size): number;
  /** What it runs on; default one server with two instances of each service, shared. */
  readonly ground?: GroundKind;
  /** More options of the services; they need a ground of their own. */
  readonly args?: PlaneOptions["args"];
  run(trial: Trial): Promise<Measured>;
}

/** Thrown by a scenario that can't be run here. */
export class Skipped extends Error {}
