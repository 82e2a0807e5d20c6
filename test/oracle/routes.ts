import { createHash } from "node:crypto";
import type { RowSpec, Tags, TrafficRouteSpec } from "@ringwall/render";
import { bareAddressText, v6Text } from "./addresses.ts";
import { byBytes, type Labels } from "./inventory.ts";
import type { Member } from "./rules.ts";

/** A route as a body has it. */
export interface OracleRoute {
  readonly outbound: string;
  readonly provenance: string;
  readonly v4: string;
  readonly v6: string;
  readonly splits: readonly {
    readonly key: string;
    readonly weight: number;
    readonly endpoints: readonly string[];
  }[];
}

/** Routes of one workload in byte order of their outbounds. */
export function routesOf(
  member: Member,
  routes: readonly TrafficRouteSpec[],
  members: readonly Member[],
): OracleRoute[] {
  const names = [...new Set(members.flatMap(({ outbounds }) => outbounds))].sort(byBytes);
  const virtual = virtualAddresses(names);
  return member.outbounds.map((outbound) => {
    const route = choose(member, outbound, routes);
    const split = route?.split ?? [{ weight: 100, tags: { service: outbound } }];
    const splits = splitsOf(split).map(({ tags, ...rest }) => ({
      ...rest,
      endpoints: endpointsOf(tags, members),
    }));
    const has = (v6: boolean) =>
      splits.some(({ endpoints }) => endpoints.some((text) => text.includes("[") === v6));
    const addresses = virtual.get(outbound);
    return {
      outbound,
      provenance: route === undefined ? "" : `${route.namespace ?? ""}/${route.name}`,
      v4: has(false) ? (addresses?.v4 ?? "") : "",
      v6: has(true) ? (addresses?.v6 ?? "") : "",
      splits,
    };
  });
}

/** Number of stored rows and addresses that no route uses because something is wrong with them. */
export function skippedRows(members: readonly Member[]): number {
  let skipped = 0;
  for (const { workload } of members) {
    for (const row of workload.rows) {
      if (!isUsable(row)) {
        skipped += 1;
      } else if (workload.presence === "live" && row.weight !== 0) {
        skipped += addressesOf(row, workload.addresses).filter((text) => text === undefined).length;
      }
    }
  }
  return skipped;
}

function choose(
  member: Member,
  outbound: string,
  routes: readonly TrafficRouteSpec[],
): TrafficRouteSpec | undefined {
  const candidates = routes.flatMap((route) => {
    const inbounds = member.workload.rows.filter(isUsable).map((row) => tagsOf(row, member.labels));
    const source = best(
      route.sources.filter((tags) => inbounds.some((inbound) => satisfies(inbound, tags))),
    );
    const destination = best(
      route.destinations.filter((tags) => satisfies({ service: outbound }, tags)),
    );
    if ((route.mesh ?? "default") !== "default" || !source || !destination) {
      return [];
    }
    const exact = source.exact + destination.exact;
    return [{ route, exact, total: exact + source.wildcard + destination.wildcard }];
  });
  candidates.sort(
    (a, b) =>
      b.total - a.total ||
      b.exact - a.exact ||
      byBytes(a.route.namespace ?? "", b.route.namespace ?? "") ||
      byBytes(a.route.name, b.route.name),
  );
  return candidates[0]?.route;
}

/** The highest rank of selectors: most tags, then most exact ones. */
function best(selectors: readonly Tags[]): { exact: number; wildcard: number } | undefined {
  const ranks = selectors.map((tags) => {
    const values = Object.values(tags);
    const wildcard = values.filter((value) => value === "*").length;
    return { exact: values.length - wildcard, wildcard };
  });
  return ranks.sort(
    (a, b) => b.exact + b.wildcard - (a.exact + a.wildcard) || b.exact - a.exact,
  )[0];
}

function satisfies(tags: Tags, selector: Tags): boolean {
  return Object.entries(selector).every(
    ([key, value]) => tags[key] !== undefined && (value === "*" || tags[key] === value),
  );
}

function tagsOf(row: RowSpec, labels: Labels): Tags {
  return { ...row.metadata, ...labels, service: row.service };
}

function splitsOf(split: TrafficRouteSpec["split"]) {
  const byKey = new Map<string, { key: string; weight: number; tags: Tags }>();
  for (const { weight, tags } of split) {
    const key = Object.keys(tags)
      .sort(byBytes)
      .map((name) => `${name}=${tags[name]}`)
      .join(",");
    if (weight > 0 && tags.service !== undefined) {
      byKey.set(key, { key, weight: weight + (byKey.get(key)?.weight ?? 0), tags });
    }
  }
  const splits = [...byKey.values()].sort((a, b) => byBytes(a.key, b.key));
  const divisor = Math.max(1, ...splits.map(({ weight }) => weight / 4_294_967_295));
  return splits.map((each) => ({
    ...each,
    weight: divisor === 1 ? each.weight : Math.max(1, Math.round(each.weight / divisor)),
  }));
}

function endpointsOf(tags: Tags, members: readonly Member[]): string[] {
  const found = new Set<string>();
  for (const { workload, labels } of members) {
    for (const row of workload.presence === "live" ? workload.rows : []) {
      const serves = row.service === tags.service && isUsable(row) && row.weight > 0;
      if (!serves || !satisfies(tagsOf(row, labels), tags)) {
        continue;
      }
      for (const address of addressesOf(row, workload.addresses)) {
        for (const port of address === undefined ? [] : listedPorts(row)) {
          const host = address?.includes(":") ? `[${address}]` : address;
          const protocol = row.portClasses[port] === 3 ? "udp" : "tcp";
          found.add(`${protocol}/${host}:${port}@${port}`);
        }
      }
    }
  }
  return [...found].sort(byBytes);
}

function addressesOf(row: RowSpec, addresses: readonly string[]): (string | undefined)[] {
  return (row.address ? [row.address] : addresses).map(bareAddressText);
}

function listedPorts(row: RowSpec): number[] {
  return [...new Set([row.port, ...row.ports])].filter((port) => port > 0);
}

/** Every listed port has a known class and every class belongs to a listed port. */
function isUsable(row: RowSpec): boolean {
  const typed = Object.keys(row.portClasses).map(Number);
  const listed = new Set([...(row.port === 0 ? [] : [row.port]), ...row.ports]);
  return (
    typed.length > 0 &&
    typed.every((port) => listed.has(port)) &&
    [...listed].every((port) => [1, 2, 3].includes(row.portClasses[port] ?? 0))
  );
}

/** Names in byte order take the slot that their hash picks, or the next free one. */
function virtualAddresses(names: readonly string[]): Map<string, { v4: string; v6: string }> {
  const v4Slots = 2n ** 28n - 2n;
  const v6Slots = 2n ** 80n - 1n;
  const taken4 = new Set<bigint>();
  const taken6 = new Set<bigint>();
  const take = (taken: Set<bigint>, first: bigint, slots: bigint) => {
    let slot = first % slots;
    while (taken.has(slot)) {
      slot = (slot + 1n) % slots;
    }
    taken.add(slot);
    return slot;
  };
  return new Map(
    names.map((name) => {
      const hex = createHash("sha256").update(name).digest("hex");
      const v4 = 0xf0000001n + take(taken4, BigInt(`0x${hex.slice(0, 8)}`), v4Slots);
      const v6 = 1n + take(taken6, BigInt(`0x${hex.slice(0, 20)}`), v6Slots);
      const text = [24n, 16n, 8n, 0n].map((shift) => (v4 >> shift) & 255n).join(".");
      return [name, { v4: text, v6: v6Text((0xfd5e956f5b7en << 80n) | v6) }];
    }),
  );
}
