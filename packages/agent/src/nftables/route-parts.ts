import type { OutboundRoute } from "@ringwall/wire";
import { groupsOf } from "./outbound.ts";

/** Where a share of the new connections to an outbound service goes. */
export interface RoutePart {
  readonly outbound: string;
  /** Traffic route that won; empty for the implicit one. */
  readonly route: string;
  /** Address that callers use. */
  readonly virtualAddress: string;
  /** Such as `tcp/5432`. */
  readonly servicePort: string;
  readonly split: string;
  /** Share of the new connections, 0 to 1. */
  readonly share: number;
  /** `address:port`, evenly used. */
  readonly endpoints: readonly string[];
}

const FAMILIES = [
  { family: "ip", address: (route: OutboundRoute) => route.virtualAddressV4 },
  { family: "ip6", address: (route: OutboundRoute) => route.virtualAddressV6 },
] as const;

/**
 * What the outbound routes of a policy lead to, as the kernel does it: a split without an endpoint for
 * a family, protocol and service port takes no share there. Throws AgentError
 * `policy-not-expressible` for an endpoint that can't be read.
 */
export function routeParts(routes: readonly OutboundRoute[]): readonly RoutePart[] {
  return routes.flatMap((route) =>
    FAMILIES.flatMap(({ family, address }) => {
      const virtualAddress = address(route);
      return virtualAddress === "" ? [] : partsOf(route, family, virtualAddress);
    }),
  );
}

function partsOf(
  route: OutboundRoute,
  family: "ip" | "ip6",
  virtualAddress: string,
): readonly RoutePart[] {
  return groupsOf(route, family).flatMap(({ protocol, servicePort, splits }) => {
    const sum = splits.reduce((total, { weight }) => total + weight, 0);
    return splits.map(({ key, weight, targets }) => ({
      outbound: route.outbound,
      route: route.route,
      virtualAddress,
      servicePort: `${protocol}/${servicePort}`,
      split: key,
      share: weight / sum,
      endpoints: targets.map(({ address, port }) =>
        address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`,
      ),
    }));
  });
}
