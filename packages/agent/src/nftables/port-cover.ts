import type { PortRange } from "@ringwall/wire";
import { checkPort, inexpressible } from "./inexpressible.ts";
import { L4 } from "./l4-protocol.ts";

/**
 * The nft match of a rule's ports, such as `tcp dport { 80, 8000-8010 }`: overlapping and adjacent
 * ranges are one, and all ports are none. Throws AgentError `policy-not-expressible`, naming the
 * rule, for ports above 65535 or inverted ranges.
 */
export function portMatch(
  protocol: "tcp" | "udp",
  ports: readonly PortRange[],
  ruleId: string,
): string {
  const ranges = portCover(ports, ruleId);
  const [only] = ranges;
  if (only === undefined || (only.start === 0 && only.end === 65_535)) {
    return `meta l4proto ${L4[protocol]}`;
  }
  const texts = ranges.map(({ start, end }) => (start === end ? `${start}` : `${start}-${end}`));
  return `${protocol} dport ${texts.length === 1 ? texts[0] : `{ ${texts.join(", ")} }`}`;
}

/** Disjoint ascending ranges that hold the same ports. */
export function portCover(
  ports: readonly PortRange[],
  ruleId: string,
): readonly { readonly start: number; readonly end: number }[] {
  const merged: { start: number; end: number }[] = [];
  for (const { start, end } of [...ports].sort((a, b) => a.start - b.start)) {
    if (checkPort(start) > checkPort(end)) {
      throw inexpressible(`ports ${start}-${end} of rule "${ruleId}" are inverted`);
    }
    const last = merged.at(-1);
    if (last !== undefined && start <= last.end + 1) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}
