import type { OutboundRoute, RouteSplit } from "@ringwall/wire";
import { parseV4, parseV6 } from "./address.ts";
import { commentOf } from "./comment.ts";
import { parseEndpoint, type Target } from "./endpoint-text.ts";
import { inexpressible } from "./inexpressible.ts";
import { L4 } from "./l4-protocol.ts";
import type { AddressSet, Chain } from "./ruleset.ts";

/** Largest modulus of nft's number generator. */
const MODULUS_LIMIT = 0xffff_ffff;

const FAMILIES = ["ip", "ip6"] as const;
type Family = (typeof FAMILIES)[number];

/** What the outbound routes compile to. */
export interface Outbound {
  readonly chains: readonly Chain[];
  readonly addressSets: readonly AddressSet[];
}

/** Targets of one family, protocol and service port, by split. */
export interface Group {
  readonly family: Family;
  readonly protocol: "tcp" | "udp";
  readonly servicePort: number;
  readonly splits: {
    readonly key: string;
    readonly weight: number;
    readonly targets: readonly Target[];
  }[];
}

/**
 * The chains that lead new connections to a virtual address on to an endpoint: first a split by its
 * weight, then one of its endpoints evenly. A split without an endpoint for a family, protocol and
 * service port takes no share there. Only a connection's first packet is led; the kernel remembers
 * it for the rest, so a later change touches no connection that lives. What is sent to a virtual
 * address and leads nowhere is rejected, so that callers learn at once.
 */
export function compileOutbound(routes: readonly OutboundRoute[]): Outbound {
  const entries: string[] = [];
  const chains: Chain[] = [];
  const virtual = { ip: [] as string[], ip6: [] as string[] };
  routes.forEach((route, index) => {
    const addresses = virtualAddresses(route);
    for (const family of FAMILIES) {
      const address = addresses[family];
      if (address === "") continue;
      virtual[family].push(address);
      for (const group of groupsOf(route, family)) {
        const name = `route${index}_${group.protocol}_${group.servicePort}_${family}`;
        const comment = commentOf(`${route.outbound} ${group.protocol}/${group.servicePort}`);
        chains.push(...groupChains(name, group));
        entries.push(
          `${family} daddr ${address} ${group.protocol} dport ${group.servicePort} counter goto ${name} comment "${comment}"`,
        );
      }
    }
  });
  return {
    chains: [...chains, ...baseChains(entries, virtual)],
    addressSets: [
      ...virtualSet("virtual4", "ipv4_addr", virtual.ip),
      ...virtualSet("virtual6", "ipv6_addr", virtual.ip6),
    ],
  };
}

function baseChains(
  entries: readonly string[],
  virtual: { readonly ip: readonly string[]; readonly ip6: readonly string[] },
): Chain[] {
  const rejects = [
    ...(virtual.ip.length > 0 ? rejections("ip", "virtual4") : []),
    ...(virtual.ip6.length > 0 ? rejections("ip6", "virtual6") : []),
  ];
  if (rejects.length === 0) return [];
  return [
    {
      name: "routes",
      // -100 is dstnat, a name that nft does not know in this hook.
      hook: "type nat hook output priority -100; policy accept;",
      rules: entries,
    },
    {
      name: "unrouted",
      hook: "type filter hook output priority filter; policy accept;",
      rules: rejects,
    },
  ];
}

/** TCP over IPv6 takes an unreachable port for a passing fault, so it gets a reset. */
function rejections(family: Family, set: string): string[] {
  const match = `${family} daddr @${set}`;
  return [
    `${match} meta l4proto tcp counter reject with tcp reset comment "no endpoint"`,
    `${match} counter reject with icmpx port-unreachable comment "no endpoint"`,
  ];
}

function virtualSet(
  name: string,
  type: AddressSet["type"],
  addresses: readonly string[],
): AddressSet[] {
  const elements = [...new Set(addresses)];
  return elements.length === 0 ? [] : [{ name, type, interval: false, elements }];
}

function virtualAddresses(route: OutboundRoute): Readonly<Record<Family, string>> {
  const { outbound, virtualAddressV4: ip, virtualAddressV6: ip6 } = route;
  // Anything else is an address that a host may own: a route must not capture it.
  if (ip !== "" && parseV4(ip) < 0xf000_0000) {
    throw inexpressible(`virtual address "${ip}" of outbound "${outbound}" is not in 240.0.0.0/4`);
  }
  if (ip6 !== "" && (parseV6(ip6) ?? 0n) >> 121n !== 0x7en) {
    throw inexpressible(`virtual address "${ip6}" of outbound "${outbound}" is not in fc00::/7`);
  }
  return { ip, ip6 };
}

/** The groups of a route, splits in its order; a split of weight 0 is in none. */
export function groupsOf(route: OutboundRoute, family: Family): Group[] {
  const groups = new Map<string, Group>();
  for (const split of route.splits) {
    const bySplit = new Map<string, Target[]>();
    for (const target of targetsOf(split, route.outbound)) {
      if (target.family !== family) continue;
      const key = `${target.protocol}/${target.servicePort}`;
      const targets = bySplit.get(key);
      if (targets === undefined) bySplit.set(key, [target]);
      else targets.push(target);
    }
    for (const [key, targets] of bySplit) {
      const [{ protocol, servicePort } = { protocol: "tcp" as const, servicePort: 0 }] = targets;
      const group = groups.get(key) ?? { family, protocol, servicePort, splits: [] };
      group.splits.push({ key: split.key, weight: split.weight, targets });
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

function targetsOf(split: RouteSplit, outbound: string): readonly Target[] {
  if (split.weight === 0) return [];
  return split.endpoints.map((text) => parseEndpoint(text, outbound));
}

function groupChains(name: string, group: Group): Chain[] {
  const { splits } = group;
  const [only] = splits;
  if (only !== undefined && splits.length === 1) {
    return [{ name, hook: "", rules: [destination(group, only.targets)] }];
  }
  const weights = scaled(splits.map(({ weight }) => weight));
  const shares: string[] = [];
  let from = 0;
  const chains = splits.map(({ targets }, index): Chain => {
    const to = from + (weights[index] ?? 1) - 1;
    shares.push(`${from === to ? from : `${from}-${to}`} : goto ${name}_split${index}`);
    from = to + 1;
    return { name: `${name}_split${index}`, hook: "", rules: [destination(group, targets)] };
  });
  const rule = `numgen random mod ${from} vmap { ${shares.join(", ")} }`;
  return [...chains, { name, hook: "", rules: [rule] }];
}

/** Weights whose sum nft can draw from; none becomes 0. */
function scaled(weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (sum <= MODULUS_LIMIT) return weights;
  const factor = (MODULUS_LIMIT - weights.length) / sum;
  return weights.map((weight) => Math.max(1, Math.floor(weight * factor)));
}

function destination({ family, protocol }: Group, targets: readonly Target[]): string {
  const [only] = targets;
  const match = `meta l4proto ${L4[protocol]} dnat ${family}`;
  if (only !== undefined && targets.length === 1) {
    const address = family === "ip" ? only.address : `[${only.address}]`;
    return `${match} to ${address}:${only.port}`;
  }
  const elements = targets.map(({ address, port }, index) => `${index} : ${address} . ${port}`);
  return `${match} addr . port to numgen random mod ${targets.length} map { ${elements.join(", ")} }`;
}
