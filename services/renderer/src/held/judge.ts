import {
  readAt,
  readLast,
  type StreamState,
  signalled,
  streamState,
  type Task,
} from "@ringwall/actor";
import type { RegistryClaims } from "@ringwall/bus";
import type { ConfigFeed } from "../config/config-feed.ts";
import { type Context, toHex } from "../context.ts";
import { type Claim, type Evidence, nameOf } from "./evidence.ts";

/** How long the own reader may take to come up with CONFIG's leader. */
const CATCH_UP_MS = 5_000;

/** Signal that CONFIG's fold has moved. */
export const FOLDED_SIGNAL = "config.folded";

/**
 * Asks the streams' leaders whether everything that later records name is still there. Returns the
 * reason why the control plane is held, undefined if it is not; throws EffectFailed.
 */
export function* judge(
  context: Context,
  feed: ConfigFeed,
  owners: RegistryClaims,
  claims: readonly Claim[],
): Task<string | undefined> {
  if (claims.length === 0) {
    return undefined;
  }
  const registry = yield* streamState("REGISTRY");
  if (claims.some(({ inputs }) => inputs.configSequence > BigInt(feed.lastSequence))) {
    yield* catchUp(context, feed);
  }
  for (const claim of claims) {
    const problem = configProblem(claim, feed) ?? registryProblem(claim, feed, registry);
    if (problem !== undefined) {
      return problem;
    }
  }
  return yield* replacedRegistry(feed, owners, claims);
}

/**
 * A registry that went back and grew past what is named again has another record there. One that is
 * gone was replaced by a later one of its key: then it is told by when partitions were taken over.
 */
function* replacedRegistry(
  { fold }: ConfigFeed,
  owners: RegistryClaims,
  claims: readonly Claim[],
): Task<string | undefined> {
  const looked = new Set<string>();
  for (const claim of claims) {
    const { generation, registryRevision, registryTimeUnixMs } = claim.inputs;
    const place = `${registryRevision} ${registryTimeUnixMs}`;
    if (generation !== fold.generation || registryTimeUnixMs === 0n || looked.has(place)) {
      continue;
    }
    looked.add(place);
    const record = yield* readAt("REGISTRY", Number(registryRevision));
    const isAnother =
      record === undefined
        ? owners.contradict(claim.inputs)
        : BigInt(Math.trunc(record.timeUnixMs)) !== registryTimeUnixMs;
    if (isAnother) {
      return (
        `REGISTRY ${registryRevision} is another record than ${nameOf(claim)} names; ` +
        "restore it, or accept the present state"
      );
    }
  }
  return undefined;
}

/** Has the leaders say again what the records of these claims name; what is gone names nothing. */
export function* readAgain(evidence: Evidence, claims: readonly Claim[]): Task<void> {
  for (const claim of claims) {
    const { stream, subject } = claim;
    const record = yield* readLast(stream, subject);
    evidence.drop([claim]);
    if (record !== undefined) {
      evidence.take(stream, record);
    }
  }
}

/** Waits until the fold has what the leader has; when it does not come, the claims decide. */
function* catchUp(context: Context, feed: ConfigFeed): Task<void> {
  const last = yield* readLast("CONFIG", context.names.configCommit);
  while (feed.lastSequence < (last?.sequence ?? 0)) {
    if (!(yield* signalled(FOLDED_SIGNAL, CATCH_UP_MS))) {
      return;
    }
  }
}

function configProblem(claim: Claim, { fold }: ConfigFeed): string | undefined {
  const { inputs } = claim;
  const id = toHex(inputs.commitId);
  const sequence = Number(inputs.configSequence);
  return fold.knows(sequence, id) && inputs.generation <= fold.generation
    ? undefined
    : `${nameOf(claim)} names commit ${id.slice(0, 12)} at CONFIG ${sequence}, generation ` +
        `${inputs.generation}, which CONFIG does not have; restore it, or accept the present state`;
}

/** A registry of another generation was accepted by an operator; its revisions mean nothing. */
function registryProblem(
  claim: Claim,
  { fold }: ConfigFeed,
  registry: StreamState,
): string | undefined {
  const { inputs, registryCreatedUnixNs } = claim;
  if (inputs.generation !== fold.generation) {
    return undefined;
  }
  if (inputs.registryRevision > BigInt(registry.lastSequence)) {
    return (
      `${nameOf(claim)} names REGISTRY ${inputs.registryRevision}, which ends at ${registry.lastSequence}; ` +
      "restore it, or accept the present state"
    );
  }
  return registryCreatedUnixNs !== undefined && registryCreatedUnixNs !== registry.createdUnixNs
    ? `REGISTRY is not the one that ${nameOf(claim)} names; restore it, or accept the present state`
    : undefined;
}
