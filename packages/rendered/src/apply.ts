import type {
  DeltaChange,
  EndpointChange,
  EnforcementMode,
  OutboundRoute,
  PeerChange,
  PolicyDelta,
  ResolvedRule,
  WorkloadPolicy,
} from "@ringwall/wire";
import type { Canonical } from "./brand.ts";
import {
  canonical,
  canonicalRoute,
  canonicalRule,
  policyOf,
  withEndpoints,
  withPeers,
} from "./canonical.ts";
import { RenderedError } from "./errors.ts";
import { Overlay } from "./overlay.ts";
import { endpointSet, peerSet, union, without } from "./sets.ts";
import { wellFormed } from "./text-order.ts";

/** A policy while the changes of a delta run over it. */
interface Edit {
  mode: EnforcementMode;
  readonly rules: Overlay<Canonical<ResolvedRule>>;
  readonly routes: Overlay<Canonical<OutboundRoute>>;
}

type Combine = typeof union;

/**
 * The canonical policy that a delta makes of a base, under the delta's target version, which need
 * not be higher. Changes run in order; each is made canonical, so that spelling does not matter.
 * What is removed need not exist. The base is never changed, and nothing comes back on an error.
 *
 * @throws RenderedError `base-mismatch` (checked first), and for the first change that fails
 * `unknown-rule`, `unknown-route` or `malformed-change`, naming its index.
 */
export function apply(
  base: WorkloadPolicy | undefined,
  delta: PolicyDelta,
): Canonical<WorkloadPolicy> {
  const start = canonical(base);
  if (start.version !== delta.fromVersion) {
    throw new RenderedError(
      "base-mismatch",
      `delta starts at version ${delta.fromVersion}, the base is version ${start.version}: ` +
        "ask for a snapshot",
    );
  }
  const edit: Edit = {
    mode: start.mode,
    // The rules and routes of a canonical policy are canonical.
    rules: new Overlay(start.inboundRules as Canonical<ResolvedRule>[], (rule) => rule.ruleId),
    routes: new Overlay(
      start.outboundRoutes as Canonical<OutboundRoute>[],
      (route) => route.outbound,
    ),
  };
  delta.changes.forEach((change, index) => {
    applyChange(edit, change, index);
  });
  return policyOf({
    version: delta.toVersion,
    mode: edit.mode,
    rules: edit.rules.result(),
    routes: edit.routes.result(),
  });
}

function applyChange(edit: Edit, { change }: DeltaChange, index: number): void {
  switch (change.case) {
    case "setMode":
      edit.mode = change.value;
      return;
    case "upsertRule":
      edit.rules.put(canonicalRule(change.value));
      return;
    case "removeRuleId":
      edit.rules.remove(wellFormed(change.value));
      return;
    case "addPeers":
      changePeers(edit, change.value, index, union);
      return;
    case "removePeers":
      changePeers(edit, change.value, index, without);
      return;
    case "upsertRoute":
      edit.routes.put(canonicalRoute(change.value));
      return;
    case "removeOutbound":
      edit.routes.remove(wellFormed(change.value));
      return;
    case "addEndpoints":
      changeEndpoints(edit, change.value, index, union);
      return;
    case "removeEndpoints":
      changeEndpoints(edit, change.value, index, without);
      return;
    default:
      // Also reached by a variant of a later schema, which decoding leaves unset.
      throw new RenderedError(
        "malformed-change",
        `change ${index} has no variant that this build knows: ask for a snapshot`,
      );
  }
}

function changePeers(edit: Edit, change: PeerChange, index: number, combine: Combine): void {
  const id = wellFormed(change.ruleId);
  const rule = edit.rules.get(id);
  if (rule === undefined) {
    throw new RenderedError(
      "unknown-rule",
      `change ${index} names rule "${id}", which the policy does not have: ask for a snapshot`,
    );
  }
  const before = peerSet(rule.peerCidrs);
  const after = combine(before, peerSet(change.peerCidrs), "peers");
  if (after !== before) edit.rules.put(withPeers(rule, after));
}

function changeEndpoints(
  edit: Edit,
  change: EndpointChange,
  index: number,
  combine: Combine,
): void {
  const outbound = wellFormed(change.outbound);
  const key = wellFormed(change.splitKey);
  const route = edit.routes.get(outbound);
  const split = route?.splits.find((candidate) => candidate.key === key);
  if (route === undefined || split === undefined) {
    throw new RenderedError(
      "unknown-route",
      `change ${index} names split "${key}" of the route to "${outbound}", ` +
        "which the policy does not have: ask for a snapshot",
    );
  }
  const before = endpointSet(split.endpoints);
  const after = combine(before, endpointSet(change.endpoints), "endpoints");
  if (after !== before) edit.routes.put(withEndpoints(route, key, after));
}
