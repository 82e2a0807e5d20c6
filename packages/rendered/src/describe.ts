import {
  type DeltaChange,
  type EndpointChange,
  type EnforcementMode,
  EnforcementModeSchema,
  type OutboundRoute,
  type PortRange,
  type ResolvedRule,
} from "@ringwall/wire";
import { protocolName } from "./rule-id.ts";

/** One line that says what a change does, as written: nothing is normalised or checked. */
export function describe({ change }: DeltaChange): string {
  switch (change.case) {
    case "setMode":
      return `set mode ${modeName(change.value)}`;
    case "upsertRule":
      return describeRule(change.value);
    case "removeRuleId":
      return `remove rule ${change.value}`;
    case "addPeers":
      return `add peers ${change.value.ruleId} +${change.value.peerCidrs.join(",")}`;
    case "removePeers":
      return `remove peers ${change.value.ruleId} -${change.value.peerCidrs.join(",")}`;
    case "upsertRoute":
      return describeRoute(change.value);
    case "removeOutbound":
      return `remove route ${change.value}`;
    case "addEndpoints":
      return `add endpoints ${endpointsText(change.value, "+")}`;
    case "removeEndpoints":
      return `remove endpoints ${endpointsText(change.value, "-")}`;
    default:
      return "malformed change";
  }
}

function modeName(mode: EnforcementMode): string {
  return EnforcementModeSchema.value[mode]?.name ?? String(mode);
}

function describeRule(rule: ResolvedRule): string {
  const ports = rule.ports.length === 0 ? "any" : rule.ports.map(portText).join(",");
  const protocol = protocolName(rule.protocol);
  return `upsert rule ${rule.ruleId} ${protocol} ports=${ports} peers=${rule.peerCidrs.length}`;
}

function portText({ start, end }: PortRange): string {
  return start === end ? String(start) : `${start}-${end}`;
}

function describeRoute(route: OutboundRoute): string {
  const via = route.route === "" ? "(implicit)" : route.route;
  const weights = route.splits.map((split) => split.weight).join(",");
  const endpoints = route.splits.reduce((sum, split) => sum + split.endpoints.length, 0);
  return `upsert route ${route.outbound} via=${via} weights=${weights} endpoints=${endpoints}`;
}

function endpointsText(change: EndpointChange, sign: "+" | "-"): string {
  return `${change.outbound} ${change.splitKey} ${sign}${change.endpoints.join(",")}`;
}
