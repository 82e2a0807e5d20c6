import { type OutboundRoute, type PortRange, Protocol, type ResolvedRule } from "@ringwall/wire";
import { enumName } from "./enum-name.ts";
import type { Out } from "./out.ts";

/** Ports as people write them: `80,8000-8010`, `every port` when none is named. */
export function portsText(ports: readonly PortRange[]): string {
  if (ports.length === 0) return "every port";
  return ports.map(({ start, end }) => (start === end ? `${start}` : `${start}-${end}`)).join(",");
}

/** The rules of a policy as a table. */
export function ruleTable(
  out: Out,
  rules: readonly ResolvedRule[],
  nameOf: (rule: ResolvedRule) => string,
): string[] {
  return out.table(
    [
      { title: "RULE", cell: (rule: ResolvedRule) => nameOf(rule) },
      { title: "PROTOCOL", cell: (rule) => enumName(Protocol, rule.protocol).toLowerCase() },
      {
        title: "PORTS",
        cell: (rule) => (rule.protocol === Protocol.ICMP ? "-" : portsText(rule.ports)),
      },
      { title: "PEERS", cell: (rule) => rule.peerCidrs.join(" ") || "nobody", flexible: true },
    ],
    rules,
  );
}

/** The outbound routes of a policy as a table, one line per split. */
export function routeTable(out: Out, routes: readonly OutboundRoute[]): string[] {
  const lines = routes.flatMap((route) => {
    const total = route.splits.reduce((sum, split) => sum + split.weight, 0);
    return route.splits.map((split, index) => ({ route, split, total, first: index === 0 }));
  });
  type Line = (typeof lines)[number];
  return out.table<Line>(
    [
      { title: "OUTBOUND", cell: (line) => (line.first ? line.route.outbound : "") },
      { title: "ROUTE", cell: (line) => (line.first ? line.route.route || "implicit" : "") },
      {
        title: "ADDRESSES",
        cell: ({ first, route }) =>
          first
            ? [route.virtualAddressV4, route.virtualAddressV6].filter(Boolean).join(" ") || "-"
            : "",
      },
      {
        title: "SHARE",
        align: "right",
        cell: ({ split, total }) =>
          total === 0 ? "-" : `${Math.round((split.weight * 1_000) / total) / 10} %`,
      },
      { title: "TO", cell: ({ split }) => split.key },
      {
        title: "ENDPOINTS",
        cell: ({ split }) => split.endpoints.join(" ") || "none",
        flexible: true,
      },
    ],
    lines,
  );
}
