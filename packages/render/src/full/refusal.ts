import { type Canonical, marshal } from "@ringwall/rendered";
import type { WorkloadPolicy } from "@ringwall/wire";
import { LIMITS, type LimitName } from "../limits.ts";

/** Why a workload can't be rendered: a limit with the actual and the allowed value. */
export interface Refusal {
  readonly limit: LimitName;
  readonly actual: number;
  readonly allowed: number;
}

/** One line for a batch and for people. */
export function refusalText({ limit, actual, allowed }: Refusal): string {
  return `${limit}: ${actual}, allowed are ${allowed}`;
}

/** Makes a refusal if the actual value is above the limit. */
export function above(limit: LimitName, actual: number): Refusal | undefined {
  const allowed = LIMITS[limit];
  return actual > allowed ? { limit, actual, allowed } : undefined;
}

/** The limit of a marshalled policy. Its size is measured only where an upper bound is above it. */
export function policySizeRefusal(policy: Canonical<WorkloadPolicy>): Refusal | undefined {
  return sizeBound(policy) > LIMITS.policyBytes
    ? above("policyBytes", marshal(policy).length)
    : undefined;
}

/** At least as many bytes as the policy marshals to: 3 per UTF-16 unit, generous framing. */
function sizeBound(policy: WorkloadPolicy): number {
  let bytes = 64;
  const add = (texts: readonly string[]) => {
    for (const text of texts) {
      bytes += text.length * (text.length > 64 ? 3 : 1) + 16;
    }
  };
  for (const rule of policy.inboundRules) {
    bytes += rule.ruleId.length * 3 + rule.ports.length * 16 + 64;
    add(rule.peerCidrs);
  }
  for (const route of policy.outboundRoutes) {
    bytes += (route.outbound.length + route.route.length) * 3 + 256;
    for (const split of route.splits) {
      bytes += split.key.length * 3 + 64;
      add(split.endpoints);
    }
  }
  return bytes;
}
