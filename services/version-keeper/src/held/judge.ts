import type { StreamState } from "@ringwall/actor";
import type { ConfigLog } from "../config/config-log.ts";
import { toHex } from "../log/hex.ts";
import { commitName } from "../log/inputs.ts";
import type { NamedState } from "./named-state.ts";

/** What is known of the head commit's tree. */
export type HeadCheck =
  | { readonly kind: "pending" }
  | { readonly kind: "admitted" }
  | { readonly kind: "bad"; readonly reason: string };

/** The facts that decide whether the control plane is held. */
export interface HeldFacts {
  readonly config: ConfigLog;
  /** Why the fold of CONFIG does not go on. */
  readonly configProblem: string | undefined;
  /** Environment that this instance was started for. */
  readonly environment: string;
  readonly head: HeadCheck;
  readonly registry: StreamState;
  /** Revisions of REGISTRY that hold another record than was named, with when that was stored. */
  readonly replaced: ReadonlySet<string>;
  readonly named: readonly NamedState[];
}

/** Names a revision of REGISTRY with when its record was stored; undefined if that is not known. */
export function placeOf({ inputs }: NamedState): string | undefined {
  const { registryRevision, registryTimeUnixMs } = inputs;
  return registryTimeUnixMs === 0n ? undefined : `${registryRevision} ${registryTimeUnixMs}`;
}

/** Whether the control plane is held, and what may lift it. */
export type HeldVerdict =
  | { readonly kind: "clear" }
  /** The head commit is being read: whatever held before holds on. */
  | { readonly kind: "pending" }
  | {
      readonly kind: "held";
      readonly reason: string;
      /** A new commit may lift it; otherwise a restore or an accepted state. */
      readonly byCommit: boolean;
      /** The record that names what is missing; a reader that lags must be ruled out first. */
      readonly named?: NamedState;
    };

/**
 * Judges the control plane on its own records. Absence, loss or age of state is never permission, so
 * whatever a record names must still be there. Registry conditions count within one generation: an
 * accepted state begins another.
 */
export function judgeHeld(facts: HeldFacts): HeldVerdict {
  const { config, environment } = facts;
  if (config.environment !== "" && config.environment !== environment) {
    const reason = `this control plane serves environment "${config.environment}", this instance was started for "${environment}"`;
    return { kind: "held", reason, byCommit: false };
  }
  if (facts.configProblem !== undefined) {
    return { kind: "held", reason: facts.configProblem, byCommit: false };
  }
  for (const named of facts.named) {
    const reason = commitProblem(config, named) ?? registryProblem(facts, named);
    if (reason !== undefined) {
      return { kind: "held", reason, byCommit: false, named };
    }
  }
  if (config.head === undefined) {
    return { kind: "held", reason: "CONFIG has no commit", byCommit: true };
  }
  switch (facts.head.kind) {
    case "admitted":
      return { kind: "clear" };
    case "pending":
      return { kind: "pending" };
    case "bad":
      return { kind: "held", reason: facts.head.reason, byCommit: true };
  }
}

function commitProblem(config: ConfigLog, { where, inputs }: NamedState): string | undefined {
  const name = commitName(inputs);
  if (inputs.generation > config.generation) {
    return `${where} names generation ${inputs.generation}, CONFIG has ${config.generation}`;
  }
  const found = config.bySequence(Number(inputs.configSequence));
  if (found?.id === toHex(inputs.commitId) || config.isOverruled(name)) {
    return undefined;
  }
  return `${where} names commit ${name}, CONFIG does not have it; restore CONFIG, or accept the state`;
}

function registryProblem(facts: HeldFacts, named: NamedState): string | undefined {
  const { config, registry } = facts;
  const { where, inputs, registryCreatedUnixNs } = named;
  if (inputs.generation !== config.generation) {
    return undefined;
  }
  if (inputs.registryRevision > BigInt(registry.lastSequence)) {
    return `${where} names REGISTRY revision ${inputs.registryRevision}, REGISTRY ends at ${registry.lastSequence}; restore it, or accept the state`;
  }
  if (facts.replaced.has(placeOf(named) ?? "")) {
    return `REGISTRY ${inputs.registryRevision} is another record than ${where} names; restore it, or accept the state`;
  }
  const recreated =
    registryCreatedUnixNs !== undefined &&
    registryCreatedUnixNs !== 0n &&
    registryCreatedUnixNs !== registry.createdUnixNs;
  return recreated
    ? `REGISTRY was created anew since ${where}; restore it, or accept the state`
    : undefined;
}
