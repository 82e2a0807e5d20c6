import { createHash } from "node:crypto";
import { compareBytes } from "@ringwall/labels";
import type { EntrySpec, PeerSpec, RuleSpec } from "./model.ts";

const DOMAIN = "ringwall:rule:v1";

/**
 * Id of an authored rule: its own, else a version-8 UUID derived from the names of ruleset and rule,
 * else from ruleset name and the rule's content, so that inserting a rule never renames others.
 * Whether a rule is enabled and the order of its lists do not count as content.
 */
export function authoredRuleId(ruleset: string, rule: RuleSpec): string {
  if (rule.id) {
    return rule.id;
  }
  const subject = rule.name ? ["name", rule.name] : ["content", contentOf(rule)];
  return uuid8([DOMAIN, ruleset, ...subject]);
}

/** First 16 bytes of SHA-256 over the NUL-joined parts, stamped as a version-8 UUID (RFC 9562). */
function uuid8(parts: readonly string[]): string {
  const hash = createHash("sha256").update(parts.join("\0")).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = hash.toString("hex", 0, 16);
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(1)
    .map((end, index) => hex.slice(cuts[index], end))
    .join("-");
}

function contentOf(rule: RuleSpec): string {
  return JSON.stringify([
    sorted(rule.peers.map(peerText)),
    sorted(rule.services ?? []),
    sorted((rule.entries ?? []).map(entryText)),
  ]);
}

function peerText(peer: PeerSpec): string {
  const selector = Object.entries(peer.workloads ?? {})
    .map(([key, values]) => [key, sorted(values)] as const)
    .sort(([a], [b]) => compareBytes(a, b));
  return JSON.stringify([selector, peer.addressGroup ?? null, peer.cidr ?? null]);
}

function entryText(entry: EntrySpec): string {
  return JSON.stringify([entry.protocol.trim().toLowerCase(), sorted(entry.ports ?? [])]);
}

function sorted(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort(compareBytes);
}
