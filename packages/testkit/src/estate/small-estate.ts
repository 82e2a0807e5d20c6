import type {
  AddressGroupSpec,
  EntrySpec,
  InventorySpec,
  PeerSpec,
  RowSpec,
  RulesetSpec,
  SelectorSpec,
  ServiceSpec,
  Tags,
  TrafficRouteSpec,
  WorkloadSpec,
} from "@ringwall/render";
import type { Chance } from "./chance.ts";

/** Names and texts that small estates are made of: few, so that they meet. */
export const RULESET_NAMES = ["alpha", "beta", "gamma", "delta"] as const;
export const SERVICE_NAMES = ["web", "dns", "db"] as const;
export const GROUP_NAMES = ["office", "cloud"] as const;
export const ROUTE_NAMES = ["one", "two", "three"] as const;
export const UNIT_NAMES = ["first", "second", "third"] as const;
const OUTBOUNDS = ["shop/cart", "shop/pay", "ops/log"] as const;
const LABELS = { app: ["web", "db", "job"], env: ["prod", "test"], zone: ["eu", "us"] } as const;
/** Addresses of the smallest estates, in every form that a report may have. */
const ODD_ADDRESSES = [
  "10.0.0.1",
  "10.0.0.2",
  "10.0.0.10",
  "192.168.7.9",
  "fd00::1",
  "FD00:0:0::2",
  "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff",
  "::ffff:10.0.0.2",
] as const;
const CIDRS = [
  "10.0.0.0/8",
  "10.0.0.1/32",
  "10.9.8.7/16",
  "192.168.0.0/16",
  "fd00::/8",
  "FD00::1/128",
  "::ffff:10.0.0.0/104",
  "0.0.0.0/0",
] as const;

/** Ids and addresses that the workloads of an estate draw from. */
export interface Pool {
  readonly ids: readonly [string, ...string[]];
  readonly addresses: readonly [string, ...string[]];
}

/** A pool for so many workloads; addresses are few enough that some are shared. */
export function poolOf(workloads: number): Pool {
  const plain = Array.from(
    { length: workloads > ODD_ADDRESSES.length ? workloads * 2 : 0 },
    (_, index) => `10.${index % 3}.${index >> 8}.${index & 255}`,
  );
  return {
    ids: ["w0", ...Array.from({ length: workloads - 1 }, (_, index) => `w${index + 1}`)],
    addresses: [...ODD_ADDRESSES, ...plain],
  };
}

export function randomWorkload(id: string, { addresses }: Pool, chance: Chance): WorkloadSpec {
  return {
    id,
    labels: randomLabels(chance),
    addresses: Array.from({ length: chance.between(0, 3) }, () => chance.pick(addresses)),
    rows: Array.from({ length: chance.between(0, 2) }, () => randomRow(chance)),
    outbounds: chance.happens(0.5) ? chance.some(OUTBOUNDS, 3) : [],
    presence: chance.happens(0.7) ? "live" : chance.pick(["stale", "draining", "expired"] as const),
    enforced: chance.happens(0.2),
  };
}

export function randomLabels(chance: Chance): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [key, values] of Object.entries(LABELS)) {
    if (chance.happens(0.8)) {
      labels[key] = chance.pick(values);
    }
  }
  return labels;
}

export function randomRow(chance: Chance): RowSpec {
  const port = chance.pick([0, 80, 8_080] as const);
  const ports = chance.some([80, 443, 8_080], 2);
  const listed = [...new Set([...(port === 0 ? [] : [port]), ...ports])];
  const typed = chance.happens(0.9) ? listed : listed.slice(1);
  return {
    service: chance.pick(OUTBOUNDS),
    ...(chance.happens(0.3)
      ? { address: chance.pick([...ODD_ADDRESSES, "10.0.0.0/24", "nowhere", ""]) }
      : {}),
    port,
    ports,
    portClasses: Object.fromEntries(typed.map((each) => [each, chance.between(1, 3)])),
    weight: chance.pick([0, 1, 1_024] as const),
    metadata: chance.happens(0.4) ? { track: chance.pick(["canary", "stable"] as const) } : {},
  };
}

export function randomRuleset(name: string, chance: Chance): RulesetSpec {
  return {
    name,
    ...(chance.happens(0.15) ? { enabled: false } : {}),
    scope: randomSelector(chance),
    rules: Array.from({ length: chance.pick([0, 1, 2, 2, 3] as const) }, (_, index) => ({
      name: `${name}-${index}`,
      ...(chance.happens(0.1) ? { enabled: false } : {}),
      peers: Array.from({ length: chance.between(0, 3) }, () => randomPeer(chance)),
      services: chance.some(SERVICE_NAMES, 2),
      entries: randomEntries(chance, chance.happens(0.8) ? 1 : 0),
    })),
  };
}

export function randomService(name: string, chance: Chance): ServiceSpec {
  return { name, entries: randomEntries(chance, 1) };
}

export function randomGroup(name: string, chance: Chance): AddressGroupSpec {
  return { name, cidrs: chance.some(CIDRS, 4) };
}

export function randomRoute(name: string, chance: Chance): TrafficRouteSpec {
  return {
    ...(chance.happens(0.1) ? { mesh: "other" } : {}),
    ...(chance.happens(0.5) ? { namespace: "shop" } : {}),
    name,
    sources: Array.from({ length: chance.between(1, 2) }, () => ({
      service: chance.pick([...OUTBOUNDS, "*", "*"]),
      ...randomTags(chance, 0.3),
    })),
    destinations: Array.from({ length: chance.between(1, 2) }, () => ({
      service: chance.pick([...OUTBOUNDS, "*"]),
    })),
    split: Array.from({ length: chance.between(1, 3) }, () => ({
      weight: chance.pick([0, 1, 50, 4_294_967_295] as const),
      tags: {
        ...(chance.happens(0.9) ? { service: chance.pick(OUTBOUNDS) } : {}),
        ...randomTags(chance, 0.4),
      },
    })),
  };
}

/** A unit for one of the workloads, or for a selector. */
export function randomUnit(name: string, chance: Chance): InventorySpec {
  // Each workload has one unit that can name it, so that no two speak for it.
  const own = `w${(UNIT_NAMES as readonly string[]).indexOf(name)}`;
  return {
    name,
    ...(chance.happens(0.4) ? { workload: own } : { selector: randomSelector(chance) }),
    ...(chance.happens(0.7) ? { labels: randomLabels(chance) } : {}),
    ...(chance.happens(0.6)
      ? { mode: chance.pick(["visibility", "simulation", "enforced"] as const) }
      : {}),
    ...(chance.happens(0.3) ? { outbounds: chance.some(OUTBOUNDS, 2) } : {}),
  };
}

/** Mostly a selector that some workload satisfies. */
function randomSelector(chance: Chance): SelectorSpec {
  const selector: Record<string, readonly string[]> = {};
  const clauses = chance.pick([0, 1, 1, 1, 1, 1, 1, 2, 2, 3] as const);
  for (const [key, values] of chance.shuffled(Object.entries(LABELS)).slice(0, clauses)) {
    selector[key] = chance.happens(0.97) ? [chance.pick(values), ...chance.some(values, 1)] : [];
  }
  return selector;
}

function randomPeer(chance: Chance): PeerSpec {
  switch (chance.below(4)) {
    case 0:
      return { addressGroup: chance.pick([...GROUP_NAMES, "missing"]) };
    case 1:
      return { cidr: chance.pick(CIDRS) };
    default:
      return { workloads: randomSelector(chance) };
  }
}

function randomEntries(chance: Chance, least: number): EntrySpec[] {
  return Array.from({ length: chance.between(least, 2) }, () => ({
    protocol: chance.pick(["tcp", "TCP", "udp", "icmp"] as const),
    ...(chance.happens(0.7)
      ? { ports: chance.some(["22", "80", "8000-8010", "0-65535", "80"], 3) }
      : {}),
  }));
}

function randomTags(chance: Chance, share: number): Tags {
  return chance.happens(share)
    ? { [chance.pick(["app", "track", "env"])]: chance.pick(["web", "canary", "prod", "*"]) }
    : {};
}
