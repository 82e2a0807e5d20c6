import type {
  DeltaChange,
  OutboundRoute,
  PolicyDelta,
  ResolvedRule,
  RouteSplit,
  WorkloadPolicy,
} from "@ringwall/wire";
import { canonical } from "./canonical.ts";
import { sameRouteHead, sameRuleHead } from "./equal.ts";
import { setDifference } from "./set-difference.ts";
import { endpointSet, peerSet } from "./sets.ts";
import { compareText } from "./text-order.ts";

type Change = DeltaChange["change"];

/**
 * The changes that turn one body into another; none if and only if they are `equal`. The mode
 * comes first; then rules by id, then routes by outbound: a new one is upserted, one that is gone
 * removed, one whose head differs upserted whole, else only its peers or endpoints are added and
 * then removed. A rule that loses every peer stays. The changes share the parts of the canonical
 * forms: treat them as read-only.
 */
export function diff(
  from: WorkloadPolicy | undefined,
  to: WorkloadPolicy | undefined,
): DeltaChange[] {
  const changes: Change[] = [];
  if (from !== to) {
    const earlier = canonical(from);
    const later = canonical(to);
    if (earlier.mode !== later.mode) changes.push({ case: "setMode", value: later.mode });
    diffRules(earlier.inboundRules, later.inboundRules, changes);
    diffRoutes(earlier.outboundRoutes, later.outboundRoutes, changes);
  }
  return changes.map((change) => ({ $typeName: "ringwall.v1.DeltaChange", change }));
}

/** The delta between two policies: `diff` between their versions. */
export function delta(
  from: WorkloadPolicy | undefined,
  to: WorkloadPolicy | undefined,
): PolicyDelta {
  const earlier = canonical(from);
  const later = canonical(to);
  return {
    $typeName: "ringwall.v1.PolicyDelta",
    fromVersion: earlier.version,
    toVersion: later.version,
    changes: diff(earlier, later),
  };
}

function diffRules(
  from: readonly ResolvedRule[],
  to: readonly ResolvedRule[],
  changes: Change[],
): void {
  walk(
    from,
    to,
    (rule) => rule.ruleId,
    (earlier, later) => {
      if (later === undefined) {
        if (earlier !== undefined) changes.push({ case: "removeRuleId", value: earlier.ruleId });
      } else if (earlier === undefined || !sameRuleHead(earlier, later)) {
        changes.push({ case: "upsertRule", value: later });
      } else {
        diffPeers(earlier, later, changes);
      }
    },
  );
}

function diffPeers(from: ResolvedRule, to: ResolvedRule, changes: Change[]): void {
  const difference = setDifference(peerSet(from.peerCidrs), peerSet(to.peerCidrs), "peers");
  if (difference === undefined) return;
  const change = (peerCidrs: string[]) =>
    ({ $typeName: "ringwall.v1.PeerChange", ruleId: to.ruleId, peerCidrs }) as const;
  if (difference.added.length > 0) {
    changes.push({ case: "addPeers", value: change(difference.added) });
  }
  if (difference.removed.length > 0) {
    changes.push({ case: "removePeers", value: change(difference.removed) });
  }
}

function diffRoutes(
  from: readonly OutboundRoute[],
  to: readonly OutboundRoute[],
  changes: Change[],
): void {
  walk(
    from,
    to,
    (route) => route.outbound,
    (earlier, later) => {
      if (later === undefined) {
        if (earlier !== undefined) {
          changes.push({ case: "removeOutbound", value: earlier.outbound });
        }
      } else if (earlier === undefined || !sameRouteHead(earlier, later)) {
        changes.push({ case: "upsertRoute", value: later });
      } else {
        later.splits.forEach((split, i) => {
          diffEndpoints(later.outbound, earlier.splits[i], split, changes);
        });
      }
    },
  );
}

function diffEndpoints(
  outbound: string,
  from: RouteSplit | undefined,
  to: RouteSplit,
  changes: Change[],
): void {
  const difference = setDifference(
    endpointSet(from?.endpoints ?? []),
    endpointSet(to.endpoints),
    "endpoints",
  );
  if (difference === undefined) return;
  const change = (endpoints: string[]) =>
    ({
      $typeName: "ringwall.v1.EndpointChange",
      outbound,
      splitKey: to.key,
      endpoints,
    }) as const;
  if (difference.added.length > 0) {
    changes.push({ case: "addEndpoints", value: change(difference.added) });
  }
  if (difference.removed.length > 0) {
    changes.push({ case: "removeEndpoints", value: change(difference.removed) });
  }
}

/** Visits two lists in byte order of their keys; what is the same object in both is passed over. */
function walk<T extends object>(
  from: readonly T[],
  to: readonly T[],
  keyOf: (item: T) => string,
  visit: (earlier: T | undefined, later: T | undefined) => void,
): void {
  if (from === to) return;
  let i = 0;
  let j = 0;
  for (;;) {
    const earlier = from[i];
    const later = to[j];
    if (earlier === undefined) {
      if (later === undefined) return;
      visit(undefined, later);
      j++;
    } else if (later === undefined) {
      visit(earlier, undefined);
      i++;
    } else {
      const order = earlier === later ? 0 : compareText(keyOf(earlier), keyOf(later));
      if (order < 0) visit(earlier, undefined);
      else if (order > 0) visit(undefined, later);
      else if (earlier !== later) visit(earlier, later);
      if (order <= 0) i++;
      if (order >= 0) j++;
    }
  }
}
