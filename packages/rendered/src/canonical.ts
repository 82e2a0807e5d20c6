import {
  EnforcementMode,
  type OutboundRoute,
  type PortRange,
  type ResolvedRule,
  type RouteSplit,
  type WorkloadPolicy,
} from "@ringwall/wire";
import {
  type Canonical,
  isCanonicalMessage,
  messageDigest,
  rememberMessageDigest,
  sealMessage,
} from "./brand.ts";
import { endpointSet, peerSet, union } from "./sets.ts";
import { compareText, wellFormed } from "./text-order.ts";

const U32_MAX = 0xffff_ffff;

/** A canonical policy, part by part. */
export interface PolicyParts {
  /** u64. */
  readonly version: bigint;
  readonly mode: EnforcementMode;
  readonly rules: readonly Canonical<ResolvedRule>[];
  readonly routes: readonly Canonical<OutboundRoute>[];
}

const EMPTY = policyOf({
  version: 0n,
  mode: EnforcementMode.VISIBILITY,
  rules: [],
  routes: [],
});

/** The policy of a workload that has none: version 0, visibility, no rules, no routes. */
export function empty(): Canonical<WorkloadPolicy> {
  return EMPTY;
}

/**
 * The canonical form of a policy; an absent one is `empty()`. Rules by id and routes by outbound
 * in byte order, a later duplicate replacing the earlier one whole; peers normalised; peers,
 * endpoints and ports sorted and unique; splits by key, where equal keys add up their weights (at
 * most 2^32 - 1) and join their endpoints. Nothing else is merged and nothing is validated.
 * A canonical policy comes back as it is. Any other one is copied and never changed; if it is in
 * canonical form already that takes one pass over its texts.
 */
export function canonical(policy: WorkloadPolicy | undefined): Canonical<WorkloadPolicy> {
  if (policy === undefined) return EMPTY;
  if (isCanonicalMessage(policy)) return policy;
  return policyOf({
    version: policy.version,
    mode: policy.mode,
    rules: keyed(policy.inboundRules.map(canonicalRule), (rule) => rule.ruleId),
    routes: keyed(policy.outboundRoutes.map(canonicalRoute), (route) => route.outbound),
  });
}

/** The same body under another version. Shares everything, the remembered digest too. */
export function withVersion(
  policy: Canonical<WorkloadPolicy>,
  version: bigint,
): Canonical<WorkloadPolicy> {
  if (policy.version === version) return policy;
  const renamed = sealMessage<WorkloadPolicy>({
    $typeName: "ringwall.v1.WorkloadPolicy",
    version,
    mode: policy.mode,
    inboundRules: policy.inboundRules,
    outboundRoutes: policy.outboundRoutes,
  });
  const digest = messageDigest(policy);
  if (digest !== undefined) rememberMessageDigest(renamed, digest);
  return renamed;
}

/** Puts canonical parts together. Rules and routes must be in order and unique. */
export function policyOf(parts: PolicyParts): Canonical<WorkloadPolicy> {
  return sealMessage<WorkloadPolicy>({
    $typeName: "ringwall.v1.WorkloadPolicy",
    version: parts.version,
    mode: parts.mode,
    // The message type has no read-only lists; a canonical message never changes.
    inboundRules: parts.rules as Canonical<ResolvedRule>[],
    outboundRoutes: parts.routes as Canonical<OutboundRoute>[],
  });
}

/** The canonical form of one rule, as `canonical` gives it. */
export function canonicalRule(rule: ResolvedRule): Canonical<ResolvedRule> {
  if (isCanonicalMessage(rule)) return rule;
  return sealMessage<ResolvedRule>({
    $typeName: "ringwall.v1.ResolvedRule",
    ruleId: wellFormed(rule.ruleId),
    peerCidrs: peerSet(rule.peerCidrs),
    protocol: rule.protocol,
    ports: canonicalPorts(rule.ports),
  });
}

/** The same rule with other peers. */
export function withPeers(
  rule: Canonical<ResolvedRule>,
  peers: Canonical<string[]>,
): Canonical<ResolvedRule> {
  return sealMessage<ResolvedRule>({
    $typeName: "ringwall.v1.ResolvedRule",
    ruleId: rule.ruleId,
    peerCidrs: peers,
    protocol: rule.protocol,
    ports: rule.ports,
  });
}

/** The canonical form of one outbound route, as `canonical` gives it. */
export function canonicalRoute(route: OutboundRoute): Canonical<OutboundRoute> {
  if (isCanonicalMessage(route)) return route;
  return sealMessage<OutboundRoute>({
    $typeName: "ringwall.v1.OutboundRoute",
    outbound: wellFormed(route.outbound),
    route: wellFormed(route.route),
    splits: canonicalSplits(route.splits),
    virtualAddressV4: wellFormed(route.virtualAddressV4),
    virtualAddressV6: wellFormed(route.virtualAddressV6),
  });
}

/** The same route with other endpoints in one of its splits. */
export function withEndpoints(
  route: Canonical<OutboundRoute>,
  splitKey: string,
  endpoints: Canonical<string[]>,
): Canonical<OutboundRoute> {
  return sealMessage<OutboundRoute>({
    $typeName: "ringwall.v1.OutboundRoute",
    outbound: route.outbound,
    route: route.route,
    splits: route.splits.map((split) =>
      split.key === splitKey ? splitOf(split.key, split.weight, endpoints) : split,
    ),
    virtualAddressV4: route.virtualAddressV4,
    virtualAddressV6: route.virtualAddressV6,
  });
}

function splitOf(key: string, weight: number, endpoints: Canonical<string[]>) {
  return sealMessage<RouteSplit>({ $typeName: "ringwall.v1.RouteSplit", key, weight, endpoints });
}

function canonicalSplits(splits: readonly RouteSplit[]): Canonical<RouteSplit>[] {
  const byKey = new Map<string, Canonical<RouteSplit>>();
  for (const split of splits) {
    const key = wellFormed(split.key);
    const endpoints = endpointSet(split.endpoints);
    const same = byKey.get(key);
    const joined =
      same === undefined
        ? splitOf(key, split.weight, endpoints)
        : splitOf(
            key,
            Math.min(same.weight + split.weight, U32_MAX),
            union(endpointSet(same.endpoints), endpoints, "endpoints"),
          );
    byKey.set(key, joined);
  }
  return [...byKey.values()].sort((a, b) => compareText(a.key, b.key));
}

function canonicalPorts(ports: readonly PortRange[]): PortRange[] {
  const sorted = ports
    .map((port) => ({ start: port.start, end: port.end }))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  const unique: PortRange[] = [];
  for (const { start, end } of sorted) {
    const last = unique.at(-1);
    if (last?.start === start && last.end === end) continue;
    unique.push(sealMessage<PortRange>({ $typeName: "ringwall.v1.PortRange", start, end }));
  }
  return unique;
}

/** In byte order of the key; of items with one key the last stays. */
function keyed<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  let previous: string | undefined;
  const inOrder = items.every((item) => {
    const key = keyOf(item);
    const above = previous === undefined || compareText(previous, key) < 0;
    previous = key;
    return above;
  });
  if (inOrder) return items;
  const byKey = new Map(items.map((item) => [keyOf(item), item]));
  return [...byKey.values()].sort((a, b) => compareText(keyOf(a), keyOf(b)));
}
