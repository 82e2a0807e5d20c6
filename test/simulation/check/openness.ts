import { BlockList, isIPv6 } from "node:net";
import { EnforcementMode, Protocol, type WorkloadPolicy } from "@ringwall/wire";
import { PROBE_PORTS, PROBE_SOURCES } from "../schedule/estate.ts";

/** One bit for each probe: a source, a protocol and a port. */
export type Openness = bigint;

const PORTED = [Protocol.TCP, Protocol.UDP] as const;
const PER_SOURCE = PORTED.length * PROBE_PORTS.length + 1;

/** Everything is allowed. */
export const ALL_OPEN: Openness = (1n << BigInt(PER_SOURCE * PROBE_SOURCES.length)) - 1n;

/** Facts about CIDRs hold for every seed of a process. */
const sourcesByCidr = new Map<string, bigint>();

/** What a host with this policy lets in. */
export function opennessOf(policy: WorkloadPolicy | undefined): Openness {
  if (policy?.mode !== EnforcementMode.ENFORCED) {
    return ALL_OPEN;
  }
  let open = 0n;
  for (const rule of policy.inboundRules) {
    let sources = 0n;
    for (const cidr of rule.peerCidrs) {
      sources |= sourcesOf(cidr);
    }
    // Services take the places from a source's bit up to the next source's.
    open |= sources * servicesOf(rule.protocol, rule.ports);
  }
  return open;
}

/** The first probes of a set, for people. */
export function describeOpenness(open: Openness): string {
  const found: string[] = [];
  for (const [index, source] of PROBE_SOURCES.entries()) {
    for (let service = 0; service < PER_SOURCE && found.length < 4; service += 1) {
      if ((open >> BigInt(index * PER_SOURCE + service)) & 1n) {
        found.push(`${source} ${serviceName(service)}`);
      }
    }
  }
  return found.join(", ");
}

function servicesOf(
  protocol: Protocol,
  ports: readonly { readonly start: number; readonly end: number }[],
): bigint {
  const at = PORTED.findIndex((each) => each === protocol);
  if (at < 0) {
    return 1n << BigInt(PER_SOURCE - 1);
  }
  let services = 0n;
  for (const [index, port] of PROBE_PORTS.entries()) {
    if (ports.length === 0 || ports.some(({ start, end }) => start <= port && port <= end)) {
      services |= 1n << BigInt(at * PROBE_PORTS.length + index);
    }
  }
  return services;
}

function serviceName(service: number): string {
  if (service === PER_SOURCE - 1) {
    return "icmp";
  }
  const protocol = service < PROBE_PORTS.length ? "tcp" : "udp";
  return `${protocol}/${PROBE_PORTS[service % PROBE_PORTS.length]}`;
}

/** The sources that lie in a CIDR, one bit for each at the first of its probes. */
function sourcesOf(cidr: string): bigint {
  let sources = sourcesByCidr.get(cidr);
  if (sources === undefined) {
    sources = 0n;
    const peers = blockList(cidr);
    for (const [index, source] of PROBE_SOURCES.entries()) {
      if (peers.check(source, isIPv6(source) ? "ipv6" : "ipv4")) {
        sources |= 1n << BigInt(index * PER_SOURCE);
      }
    }
    sourcesByCidr.set(cidr, sources);
  }
  return sources;
}

function blockList(cidr: string): BlockList {
  const list = new BlockList();
  const [address = "", length] = cidr.split("/");
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  list.addSubnet(address, Number(length ?? (family === "ipv6" ? 128 : 32)), family);
  return list;
}
