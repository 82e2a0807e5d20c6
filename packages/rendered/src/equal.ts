import type { OutboundRoute, PortRange, ResolvedRule, WorkloadPolicy } from "@ringwall/wire";
import { canonical } from "./canonical.ts";
import { sameSet } from "./sets.ts";

/**
 * True if two policies have the same body: their canonical forms without the version are equal. An
 * absent policy is the empty one. Form is compared, not meaning: two halves of a network are not
 * the network.
 */
export function equal(a: WorkloadPolicy | undefined, b: WorkloadPolicy | undefined): boolean {
  if (a === b) return true;
  const left = canonical(a);
  const right = canonical(b);
  return (
    left.mode === right.mode &&
    sameList(left.inboundRules, right.inboundRules, sameRule) &&
    sameList(left.outboundRoutes, right.outboundRoutes, sameRoute)
  );
}

/** True if two canonical rules differ in nothing but their peers. */
export function sameRuleHead(a: ResolvedRule, b: ResolvedRule): boolean {
  return (
    a.ruleId === b.ruleId && a.protocol === b.protocol && sameList(a.ports, b.ports, samePorts)
  );
}

/** True if two canonical routes differ in nothing but the endpoints of their splits. */
export function sameRouteHead(a: OutboundRoute, b: OutboundRoute): boolean {
  return (
    a.outbound === b.outbound &&
    a.route === b.route &&
    a.virtualAddressV4 === b.virtualAddressV4 &&
    a.virtualAddressV6 === b.virtualAddressV6 &&
    sameList(a.splits, b.splits, (x, y) => x.key === y.key && x.weight === y.weight)
  );
}

function sameRule(a: ResolvedRule, b: ResolvedRule): boolean {
  return sameRuleHead(a, b) && sameSet(a.peerCidrs, b.peerCidrs);
}

function sameRoute(a: OutboundRoute, b: OutboundRoute): boolean {
  return (
    sameRouteHead(a, b) && sameList(a.splits, b.splits, (x, y) => sameSet(x.endpoints, y.endpoints))
  );
}

function samePorts(a: PortRange, b: PortRange): boolean {
  return a.start === b.start && a.end === b.end;
}

function sameList<T>(a: readonly T[], b: readonly T[], same: (a: T, b: T) => boolean): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    const left = a[i];
    const right = b[i];
    if (left === right) continue;
    if (left === undefined || right === undefined || !same(left, right)) return false;
  }
  return true;
}
