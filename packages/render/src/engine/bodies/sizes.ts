import { above, type Refusal } from "../../full/refusal.ts";
import { LIMITS } from "../../limits.ts";
import type { PortSpan } from "../../ports.ts";
import type { Decision } from "../routes/decisions.ts";
import { type PlannedRule, plannedId } from "../rules/ruleset.ts";
import { textFieldBytes, varintBytes } from "../store/byte-writer.ts";
import type { TextSets } from "../store/text-sets.ts";
import type { PolicyClass } from "./policy-class.ts";

/** Sets that bodies name. */
export interface BodySets {
  readonly peers: TextSets;
  readonly endpoints: TextSets;
}

/** Most bytes of a rule or split beside its texts: framing, protocol, weight. */
const FRAME_BYTES = 64;
/** The same of a rule, with the protocol's name in its id. */
const RULE_BYTES = FRAME_BYTES + 16;
const PORT_BYTES = 16;

/** Most that routes take up, whatever their sets hold. */
export interface FixedSize {
  /** Sets that they name. */
  readonly sets: number;
  /** At least as many bytes as they have beside the texts of those sets. */
  readonly bytes: number;
}

/** Most bytes that rules take up beside the texts of their peer sets. */
export function fixedBytesOfRules(rules: readonly PlannedRule[]): number {
  let bytes = 0;
  for (const { authored, ports } of rules) {
    bytes += authored.length * 3 + ports.length * PORT_BYTES + RULE_BYTES;
  }
  return bytes;
}

/** What routes take up. */
export function fixedSizeOfRoutes(decisions: readonly Decision[]): FixedSize {
  let sets = 0;
  let bytes = 0;
  for (const { outbound, provenance, splits } of decisions) {
    sets += splits.length;
    bytes += (outbound.length + provenance.length) * 3 + 2 * FRAME_BYTES;
    for (const { key } of splits) {
      bytes += key.length * 3 + FRAME_BYTES;
    }
  }
  return { sets, bytes };
}

/** The first limit that a body breaks. Nothing is encoded for it. */
export function refusalOf(policyClass: PolicyClass, sets: BodySets): Refusal | undefined {
  return isFarBelow(policyClass, sets) ? undefined : firstRefusal(policyClass, sets);
}

/** True if no limit would be broken even if each set were the largest; looks at no rule or route. */
function isFarBelow({ list, routes }: PolicyClass, { peers, endpoints }: BodySets): boolean {
  const { ruleCount, fixedBytes } = list;
  const splits = routes.fixedSize;
  const bytes =
    FRAME_BYTES +
    fixedBytes +
    splits.bytes +
    ruleCount * peers.mostBytes +
    splits.sets * endpoints.mostBytes;
  return (
    ruleCount <= LIMITS.rulesPerPolicy &&
    peers.mostTexts <= LIMITS.peersPerRule &&
    ruleCount * peers.mostTexts <= LIMITS.peersPerPolicy &&
    bytes <= LIMITS.policyBytes
  );
}

function firstRefusal(policyClass: PolicyClass, sets: BodySets): Refusal | undefined {
  const { rulesets, ruleCount } = policyClass.list;
  const tooMany = above("rulesPerPolicy", ruleCount);
  if (tooMany !== undefined) {
    return tooMany;
  }
  let total = 0;
  for (const { rules } of rulesets) {
    for (const { source } of rules) {
      const size = sets.peers.size(source);
      if (size > LIMITS.peersPerRule) {
        return above("peersPerRule", size);
      }
      total += size;
    }
  }
  return (
    above("peersPerPolicy", total) ??
    (sizeBound(policyClass, sets) > LIMITS.policyBytes
      ? above("policyBytes", policyBytes(policyClass, sets))
      : undefined)
  );
}

/** At least as many bytes as the policy has. */
function sizeBound({ list, routes }: PolicyClass, sets: BodySets): number {
  let bytes = FRAME_BYTES + list.fixedBytes + routes.fixedSize.bytes;
  for (const { source } of list.rules) {
    bytes += sets.peers.bytes(source);
  }
  for (const { splits } of routes.decisions) {
    for (const { bucket } of splits) {
      bytes += sets.endpoints.bytes(bucket.set);
    }
  }
  return bytes;
}

/** Bytes of the marshalled policy, with version 0. */
function policyBytes({ list, routes }: PolicyClass, sets: BodySets): number {
  const mode = 2;
  return (
    list.rules.reduce((sum, rule) => sum + framed(ruleBytes(rule, sets)), mode) +
    routes.decisions.reduce((sum, decision) => sum + framed(routeBytes(decision, sets)), 0)
  );
}

/** Bytes of a rule as part of a policy, without tag and length. */
export function ruleBytes(rule: PlannedRule, { peers }: BodySets): number {
  const protocol = 2;
  const { ports, source } = rule;
  return (
    textFieldBytes(plannedId(rule)) +
    peers.bytes(source) +
    protocol +
    ports.reduce((sum, span) => sum + framed(spanBytes(span)), 0)
  );
}

/** Bytes of a route as part of a policy, without tag and length. */
export function routeBytes(decision: Decision, sets: BodySets): number {
  const { outbound, provenance, splits, shown } = decision;
  const texts = [outbound, provenance, shown.v4, shown.v6].filter((text) => text !== "");
  return (
    texts.reduce((sum, text) => sum + textFieldBytes(text), 0) +
    splits.reduce((sum, split) => sum + framed(splitBytes(split, sets)), 0)
  );
}

/** Bytes of a split, without tag and length. */
export function splitBytes(
  { key, weight, bucket }: Decision["splits"][number],
  { endpoints }: BodySets,
): number {
  const text = key === "" ? 0 : textFieldBytes(key);
  return text + 1 + varintBytes(weight) + endpoints.bytes(bucket.set);
}

/** Bytes of a range of ports, without tag and length. */
export function spanBytes({ start, end }: PortSpan): number {
  return (start === 0 ? 0 : 1 + varintBytes(start)) + (end === 0 ? 0 : 1 + varintBytes(end));
}

/** Bytes of a field that holds so many. */
export function framed(bytes: number): number {
  return 1 + varintBytes(bytes) + bytes;
}
