/**
 * Rendered policies done in the straightforward way: canonical form by Map, Set and sort before
 * each operation, comparison by JSON, encoding by the protobuf library. IPv4 only.
 */
import { toBinary } from "@bufbuild/protobuf";
import {
  type DeltaChange,
  type PolicyDelta,
  type ResolvedRule,
  type WorkloadPolicy,
  WorkloadPolicySchema,
} from "@ringwall/wire";

const change = (value: DeltaChange["change"]): DeltaChange => ({
  $typeName: "ringwall.v1.DeltaChange",
  change: value,
});

export function normalizeIpv4(text: string): string {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)(?:\/(\d+))?$/.exec(text.trim());
  if (match === null) return text;
  const [a = 0, b = 0, c = 0, d = 0, length = 32] = match
    .slice(1)
    .map((part) => (part === undefined ? undefined : Number(part)));
  const mask = length === 0 ? 0 : (0xffffffff << (32 - length)) >>> 0;
  const address = (((a << 24) | (b << 16) | (c << 8) | d) & mask) >>> 0;
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}/${length}`;
}

export function canonical(policy: WorkloadPolicy): WorkloadPolicy {
  const rules = new Map<string, ResolvedRule>();
  for (const rule of policy.inboundRules) {
    rules.set(rule.ruleId, {
      ...rule,
      peerCidrs: [...new Set(rule.peerCidrs.map(normalizeIpv4))].sort(),
      ports: [...rule.ports].sort((x, y) => x.start - y.start || x.end - y.end),
    });
  }
  return {
    ...policy,
    inboundRules: [...rules.values()].sort((x, y) => (x.ruleId < y.ruleId ? -1 : 1)),
  };
}

export function diff(from: WorkloadPolicy, to: WorkloadPolicy): DeltaChange[] {
  const earlier = new Map(canonical(from).inboundRules.map((rule) => [rule.ruleId, rule]));
  const later = new Map(canonical(to).inboundRules.map((rule) => [rule.ruleId, rule]));
  const changes: DeltaChange[] = [];
  if (from.mode !== to.mode) changes.push(change({ case: "setMode", value: to.mode }));
  for (const id of [...new Set([...earlier.keys(), ...later.keys()])].sort()) {
    const before = earlier.get(id);
    const after = later.get(id);
    if (after === undefined) {
      changes.push(change({ case: "removeRuleId", value: id }));
    } else if (
      before === undefined ||
      before.protocol !== after.protocol ||
      JSON.stringify(before.ports) !== JSON.stringify(after.ports)
    ) {
      changes.push(change({ case: "upsertRule", value: after }));
    } else {
      changes.push(...diffPeers(id, before.peerCidrs, after.peerCidrs));
    }
  }
  return changes;
}

export function apply(base: WorkloadPolicy, delta: PolicyDelta): WorkloadPolicy {
  const result = canonical(base);
  const rules = new Map(result.inboundRules.map((rule) => [rule.ruleId, rule]));
  for (const { change } of delta.changes) {
    if (change.case === "setMode") result.mode = change.value;
    else if (change.case === "upsertRule") rules.set(change.value.ruleId, change.value);
    else if (change.case === "removeRuleId") rules.delete(change.value);
    else if (change.case === "addPeers" || change.case === "removePeers") {
      const rule = rules.get(change.value.ruleId);
      if (rule === undefined) throw new Error(`unknown rule ${change.value.ruleId}`);
      const peers = new Set(rule.peerCidrs);
      for (const peer of change.value.peerCidrs.map(normalizeIpv4)) {
        if (change.case === "addPeers") peers.add(peer);
        else peers.delete(peer);
      }
      rule.peerCidrs = [...peers];
    }
  }
  return canonical({ ...result, version: delta.toVersion, inboundRules: [...rules.values()] });
}

export function marshal(policy: WorkloadPolicy): Uint8Array {
  return toBinary(WorkloadPolicySchema, canonical(policy));
}

function diffPeers(ruleId: string, from: string[], to: string[]): DeltaChange[] {
  const before = new Set(from);
  const after = new Set(to);
  const changes: DeltaChange[] = [];
  const added = to.filter((peer) => !before.has(peer));
  const removed = from.filter((peer) => !after.has(peer));
  const value = (peerCidrs: string[]) =>
    ({ $typeName: "ringwall.v1.PeerChange", ruleId, peerCidrs }) as const;
  if (added.length > 0) changes.push(change({ case: "addPeers", value: value(added) }));
  if (removed.length > 0) changes.push(change({ case: "removePeers", value: value(removed) }));
  return changes;
}
