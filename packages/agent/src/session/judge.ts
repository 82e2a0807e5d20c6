import { apply, bodyDigest, type Canonical, canonical, RenderedError } from "@ringwall/rendered";
import type { BodyDigest, Down, Inputs, PolicyDelta, WorkloadPolicy } from "@ringwall/wire";
import { digestText } from "../digest.ts";
import type { PolicyRecord } from "../record.ts";
import { keptInputs } from "./kept-inputs.ts";

/** What to do with a push: take it, or tell the gateway that it does not fit. */
export type Verdict =
  | { readonly kind: "take"; readonly record: PolicyRecord }
  | { readonly kind: "out-of-step"; readonly detail: string };

/** The content of a push. */
export type PushBody =
  | { readonly kind: "snapshot"; readonly policy: WorkloadPolicy }
  | { readonly kind: "delta"; readonly delta: PolicyDelta };

/**
 * Judges a push against what the agent has. It never trusts order or luck: only a newer epoch, a
 * higher version of the same epoch or the same version with the same digest is taken, never from
 * inputs below those of the policy in force, and only if the body that results has the digest that
 * was named. `have` is what deltas start from, `latest` what nothing may be below: another one only
 * where a policy is in force that could not be stored.
 */
export function judge(
  have: PolicyRecord | undefined,
  down: Down,
  body: PushBody,
  latest: PolicyRecord | undefined = have,
): Verdict {
  const digest = digestText(down.digest);
  if (digest === undefined) {
    return outOfStep(`push names a digest of ${down.digest.length} bytes, not 32`);
  }
  const old = latest === undefined ? undefined : tooOld(latest, down, digest);
  if (old !== undefined) {
    return outOfStep(old);
  }
  const result = body.kind === "snapshot" ? canonical(body.policy) : step(have, body.delta);
  if (typeof result === "string") {
    return outOfStep(result);
  }
  if (result.version !== down.headVersion) {
    return outOfStep(`push of version ${down.headVersion} holds version ${result.version}`);
  }
  const actual = bodyDigest(result);
  if (actual !== digest) {
    return outOfStep(`body has digest ${actual}, the push names ${digest}`);
  }
  const { workloadId: workload, epoch } = down;
  const inputs = keptInputs(down.inputs);
  return { kind: "take", record: { workload, epoch, digest: actual, inputs, policy: result } };
}

function tooOld(have: PolicyRecord, down: Down, digest: BodyDigest): string | undefined {
  if (have.inputs !== undefined && isBelow(down.inputs, have.inputs)) {
    return `push is of inputs ${textOf(down.inputs)}, the agent has ${textOf(have.inputs)}`;
  }
  if (down.epoch > have.epoch) {
    return undefined;
  }
  if (down.epoch < have.epoch) {
    return `push is of epoch ${down.epoch}, the agent has ${have.epoch}`;
  }
  if (down.headVersion < have.policy.version) {
    return `push is of version ${down.headVersion}, the agent has ${have.policy.version}`;
  }
  if (down.headVersion === have.policy.version && digest !== have.digest) {
    return `version ${down.headVersion} has another digest here`;
  }
  return undefined;
}

/**
 * True if inputs are below others: by generation first, then in either component. A later epoch is no
 * reason to take them: the gateway that sent them may not know yet what was applied meanwhile.
 */
function isBelow(inputs: Inputs | undefined, others: Inputs): boolean {
  if (inputs === undefined || inputs.generation !== others.generation) {
    return (inputs?.generation ?? 0n) < others.generation;
  }
  return (
    inputs.configSequence < others.configSequence ||
    inputs.registryRevision < others.registryRevision
  );
}

function textOf(inputs: Inputs | undefined): string {
  return inputs === undefined
    ? "none"
    : `${inputs.generation}/${inputs.configSequence}/${inputs.registryRevision}`;
}

function step(
  have: PolicyRecord | undefined,
  delta: PolicyDelta,
): Canonical<WorkloadPolicy> | string {
  if (have === undefined) {
    return `delta from version ${delta.fromVersion}, the agent has none`;
  }
  try {
    return apply(have.policy, delta);
  } catch (thrown) {
    if (thrown instanceof RenderedError) {
      return thrown.message;
    }
    throw thrown;
  }
}

function outOfStep(detail: string): Verdict {
  return { kind: "out-of-step", detail };
}
