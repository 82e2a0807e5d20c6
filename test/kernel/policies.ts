import { create } from "@bufbuild/protobuf";
import { type Canonical, canonical } from "@ringwall/rendered";
import {
  EnforcementMode,
  Protocol,
  type WorkloadPolicy,
  WorkloadPolicySchema,
} from "@ringwall/wire";

/** A rule in short: `tcp 80,8000-8010` from peers. */
export interface RuleText {
  readonly id?: string;
  /** Protocol and ports; no ports are all. */
  readonly to: string;
  readonly from: readonly string[];
}

/** A route in short. */
export interface RouteText {
  readonly outbound: string;
  readonly v4?: string;
  readonly v6?: string;
  readonly splits: readonly {
    readonly key: string;
    readonly weight: number;
    readonly endpoints: readonly string[];
  }[];
}

const PROTOCOLS = { tcp: Protocol.TCP, udp: Protocol.UDP, icmp: Protocol.ICMP } as const;

/** A canonical policy from short texts. */
export function policyOf(
  mode: EnforcementMode,
  rules: readonly RuleText[],
  routes: readonly RouteText[] = [],
): Canonical<WorkloadPolicy> {
  return canonical(
    create(WorkloadPolicySchema, {
      version: 1n,
      mode,
      inboundRules: rules.map(({ id, to, from }, index) => {
        const [name = "tcp", ports = ""] = to.split(" ");
        return {
          ruleId: id ?? `rule-${index}/${name}`,
          peerCidrs: [...from],
          protocol: PROTOCOLS[name as keyof typeof PROTOCOLS], // the texts of this suite
          ports: ports.split(",").filter(Boolean).map(rangeOf),
        };
      }),
      outboundRoutes: routes.map(({ outbound, v4 = "", v6 = "", splits }) => ({
        outbound,
        virtualAddressV4: v4,
        virtualAddressV6: v6,
        splits: splits.map((split) => ({ ...split, endpoints: [...split.endpoints] })),
      })),
    }),
  );
}

/** An enforced policy. */
export function enforced(rules: readonly RuleText[], routes: readonly RouteText[] = []) {
  return policyOf(EnforcementMode.ENFORCED, rules, routes);
}

function rangeOf(text: string): { start: number; end: number } {
  const [start = 0, end = start] = text.split("-").map(Number);
  return { start, end };
}
