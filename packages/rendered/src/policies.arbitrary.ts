/** Random policies for property tests: small pools, so that two of them have much in common. */
import { create, type UnknownEnum } from "@bufbuild/protobuf";
import {
  type EnforcementMode,
  type OutboundRoute,
  OutboundRouteSchema,
  PortRangeSchema,
  type Protocol,
  type ResolvedRule,
  ResolvedRuleSchema,
  RouteSplitSchema,
  type WorkloadPolicy,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import fc from "fast-check";

/** Numbers that this schema gives no name; the library's type for them is a brand. */
const LATER = 99 as UnknownEnum;
const NEGATIVE = -1 as UnknownEnum;

/** Peers in many spellings, some of one host, some no address at all. */
export const peerText = fc.oneof(
  fc.constantFrom("10.0.0.1", "10.0.0.1/32", "::ffff:10.0.0.1", " 10.0.0.2 ", "10.0.0.7/24"),
  fc.constantFrom(
    "FD00::1",
    "fd00:0::1/128",
    "::/0",
    "0.0.0.0/0",
    "nope",
    "",
    "～",
    "😀",
    "\ud800",
  ),
  fc.nat(40).map((n) => `10.1.0.${n}/32`),
  fc.nat(9).map((n) => `2001:db8::${n}/128`),
);

/** Endpoint texts. */
export const endpointText = fc.oneof(
  fc.nat(30).map((n) => `tcp/10.2.0.${n}:6379@6379`),
  fc.nat(5).map((n) => `udp/[fd00::${n}]:53@53`),
  fc.constantFrom("～", "😀", ""),
);

const ports = fc.array(
  fc
    .constantFrom([0, 0], [22, 22], [80, 81], [0, 65535])
    .map(([start = 0, end = 0]) => create(PortRangeSchema, { start, end })),
  { maxLength: 2 },
);

/** A rule, rarely in canonical form. */
export const rule: fc.Arbitrary<ResolvedRule> = fc
  .record({
    ruleId: fc.constantFrom("a/tcp", "b/tcp", "a-b/udp", "Z/icmp", "～/tcp", "😀/tcp", ""),
    peerCidrs: fc.array(peerText, { maxLength: 30 }),
    protocol: fc.constantFrom<Protocol[]>(1, 1, 1, 2, LATER, NEGATIVE),
    ports,
  })
  .map((init) => create(ResolvedRuleSchema, init));

const split = fc
  .record({
    key: fc.constantFrom("service=demo/redis", "service=demo/redis,version=2", ""),
    weight: fc.constantFrom(0, 10, 90, 0xffff_ffff),
    endpoints: fc.array(endpointText, { maxLength: 25 }),
  })
  .map((init) => create(RouteSplitSchema, init));

/** A route, rarely in canonical form. */
export const route: fc.Arbitrary<OutboundRoute> = fc
  .record({
    outbound: fc.constantFrom("demo/redis", "demo/pg", "demo/😀"),
    route: fc.constantFrom("", "", "demo/canary"),
    splits: fc.array(split, { maxLength: 3 }),
    virtualAddressV4: fc.constantFrom("", "240.0.0.1"),
    virtualAddressV6: fc.constantFrom("", "fd00::1"),
  })
  .map((init) => create(OutboundRouteSchema, init));

/** A policy message, rarely in canonical form. */
export const policy: fc.Arbitrary<WorkloadPolicy> = fc
  .record({
    version: fc.oneof(fc.bigInt(0n, 300n), fc.constant(2n ** 64n - 1n)),
    mode: fc.constantFrom<EnforcementMode[]>(0, 1, 2, 3, LATER),
    inboundRules: fc.array(rule, { maxLength: 6 }),
    outboundRoutes: fc.array(route, { maxLength: 4 }),
  })
  .map((init) => create(WorkloadPolicySchema, init));

type PolicyPair = readonly [WorkloadPolicy | undefined, WorkloadPolicy | undefined];

/** Two policies: unrelated, one edit apart, or of one body; unrelated ones may be absent. */
export const policyPair: fc.Arbitrary<PolicyPair> = fc.oneof(
  fc.tuple(fc.option(policy, { nil: undefined }), fc.option(policy, { nil: undefined })),
  fc
    .tuple(policy, fc.array(peerText), fc.array(endpointText), fc.bigInt(0n, 300n))
    .map(
      ([base, peers, endpoints, version]): PolicyPair => [
        base,
        edited(base, peers, endpoints, version),
      ],
    ),
  policy.map((base): PolicyPair => [base, respelled(base)]),
);

/** The same body, written another way. */
function respelled(base: WorkloadPolicy): WorkloadPolicy {
  return {
    ...base,
    version: base.version / 2n,
    inboundRules: [...base.inboundRules, ...base.inboundRules].map((item) => ({
      ...item,
      peerCidrs: item.peerCidrs.flatMap((peer) => [` ${peer}`, peer]).reverse(),
    })),
  };
}

function edited(
  base: WorkloadPolicy,
  peers: string[],
  endpoints: string[],
  version: bigint,
): WorkloadPolicy {
  return {
    ...base,
    version,
    inboundRules: base.inboundRules.map((item, i) =>
      i % 2 === 0 ? { ...item, peerCidrs: peers } : item,
    ),
    outboundRoutes: base.outboundRoutes.map((item) => ({
      ...item,
      splits: item.splits.map((part, i) => (i === 0 ? { ...part, endpoints } : part)),
    })),
  };
}
