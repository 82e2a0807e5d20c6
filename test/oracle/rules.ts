import { createHash } from "node:crypto";
import type { Configuration, EntrySpec, RuleSpec, WorkloadSpec } from "@ringwall/render";
import { Protocol } from "@ringwall/wire";
import { peerText } from "./addresses.ts";
import { byBytes, type Effective, selects } from "./inventory.ts";

/** A workload with what rules see of it. */
export interface Member extends Effective {
  readonly workload: WorkloadSpec;
}

/** A rule as a body has it. */
export interface OracleRule {
  readonly id: string;
  readonly protocol: Protocol;
  readonly ports: readonly { readonly start: number; readonly end: number }[];
  readonly peers: readonly string[];
}

/** Rules of one workload by id in byte order. */
export function rulesOf(
  member: Member,
  configuration: Configuration,
  members: readonly Member[],
): OracleRule[] {
  const rules: OracleRule[] = [];
  for (const ruleset of configuration.rulesets) {
    if (ruleset.enabled === false || !selects(ruleset.scope, member.labels)) {
      continue;
    }
    for (const rule of ruleset.rules) {
      if (rule.enabled === false) {
        continue;
      }
      const peers = peersOf(rule, configuration, members);
      for (const { name, protocol, ports } of portsOf(entriesOf(rule, configuration))) {
        rules.push({ id: `${ruleId(ruleset.name, rule)}/${name}`, protocol, ports, peers });
      }
    }
  }
  return rules.sort((a, b) => byBytes(a.id, b.id));
}

function peersOf(
  rule: RuleSpec,
  configuration: Configuration,
  members: readonly Member[],
): string[] {
  const peers = new Set<string>();
  for (const { workloads, addressGroup, cidr } of rule.peers) {
    if (cidr !== undefined) {
      peers.add(peerText(cidr));
    }
    for (const group of configuration.addressGroups) {
      if (group.name === addressGroup) {
        group.cidrs.forEach((each) => {
          peers.add(peerText(each));
        });
      }
    }
    for (const { workload, labels } of workloads === undefined ? [] : members) {
      if (workload.presence !== "expired" && selects(workloads ?? {}, labels)) {
        workload.addresses.forEach((address) => {
          peers.add(peerText(address));
        });
      }
    }
  }
  return [...peers].sort(byBytes);
}

function entriesOf(rule: RuleSpec, { services }: Configuration): EntrySpec[] {
  const named = (rule.services ?? []).flatMap(
    (name) => services.find((service) => service.name === name)?.entries ?? [],
  );
  return [...named, ...(rule.entries ?? [])];
}

/** Port ranges of each protocol; an entry without ports means every port of its protocol. */
function portsOf(entries: readonly EntrySpec[]) {
  const result: (Pick<OracleRule, "protocol" | "ports"> & { readonly name: string })[] = [];
  const names = { tcp: Protocol.TCP, udp: Protocol.UDP, icmp: Protocol.ICMP };
  for (const [name, protocol] of Object.entries(names)) {
    const own = entries.filter((entry) => entry.protocol.toLowerCase() === name);
    if (own.length === 0) {
      continue;
    }
    const everyPort = name === "icmp" || own.some(({ ports = [] }) => ports.length === 0);
    const texts = everyPort ? [] : own.flatMap(({ ports = [] }) => ports);
    const ranges = texts.map((text) => {
      const [start = 0, end = start] = text.split("-").map(Number);
      return { start, end };
    });
    const sorted = ranges.sort((a, b) => a.start - b.start || a.end - b.end);
    const distinct = sorted.filter(
      ({ start, end }, at) => start !== sorted[at - 1]?.start || end !== sorted[at - 1]?.end,
    );
    result.push({ name, protocol, ports: distinct });
  }
  return result;
}

/** Own id, else a version-8 UUID of the names of ruleset and rule. */
function ruleId(ruleset: string, { id, name = "" }: RuleSpec): string {
  if (id !== undefined) {
    return id;
  }
  const hash = createHash("sha256");
  const bytes = hash.update(`ringwall:rule:v1\0${ruleset}\0name\0${name}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
