import { above, type Refusal } from "../../full/refusal.ts";
import { LIMITS } from "../../limits.ts";
import type { PortSpan } from "../../ports.ts";
import type { Decision } from "../routes/decisions.ts";
import type { PlannedRule } from "../rules/ruleset.ts";
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
const PORT_BYTES = 16;

/** The first limit that a body breaks. Nothing is encoded for it. */
export function refusalOf(policyClass: PolicyClass, sets: BodySets): Refusal | undefined {
  const { rulesets } = policyClass.list;
  let count = 0;
  for (const { rules } of rulesets) {
    count += rules.length;
  }
  const tooMany = above("rulesPerPolicy", count);
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
  let bytes = FRAME_BYTES;
  for (const { id, ports, source } of list.rules) {
    bytes += id.length * 3 + ports.length * PORT_BYTES + sets.peers.bytes(source) + FRAME_BYTES;
  }
  for (const { outbound, provenance, splits } of routes.decisions) {
    bytes += (outbound.length + provenance.length) * 3 + 2 * FRAME_BYTES;
    for (const { key, bucket } of splits) {
      bytes += key.length * 3 + sets.endpoints.bytes(bucket.set) + FRAME_BYTES;
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
export function ruleBytes({ id, ports, source }: PlannedRule, { peers }: BodySets): number {
  const protocol = 2;
  return (
    textFieldBytes(id) +
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
