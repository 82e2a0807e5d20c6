import { isMapped, parseLength, parseV4, parseV6, rangeOf, unmappedText } from "./address.ts";
import { inexpressible } from "./inexpressible.ts";

/**
 * The peers of a rule as nft takes them: split by family, host routes apart from prefixes, and
 * disjoint: a peer that lies in another one is left out, because an interval set refuses overlaps
 * and a host in a plain set beside its own prefix would be matched twice.
 */
export interface PeerCover {
  /** Bare IPv4 addresses. */
  readonly hosts4: readonly string[];
  /** IPv4 prefixes in the order of their addresses. */
  readonly nets4: readonly string[];
  /** Bare IPv6 addresses. */
  readonly hosts6: readonly string[];
  /** IPv6 prefixes in the order of their addresses. */
  readonly nets6: readonly string[];
}

interface Net<Address> {
  readonly text: string;
  readonly first: Address;
  readonly last: Address;
}

/** Canonical peer lists never change and are shared by rules, so each is looked at once. */
const covers = new WeakMap<readonly string[], PeerCover>();

/**
 * The disjoint cover of canonical peers. Families never mix: `0.0.0.0/0` covers no IPv6 address and
 * an IPv6 prefix no IPv4 one. Throws AgentError `policy-not-expressible`, naming the rule, for a peer
 * that is no CIDR or is an IPv4-mapped prefix: no packet carries such a source, so it would never
 * match what its author meant.
 */
export function peerCover(peers: readonly string[], ruleId: string): PeerCover {
  const known = covers.get(peers);
  if (known !== undefined) return known;
  const cover = computeCover(peers, ruleId);
  covers.set(peers, cover);
  return cover;
}

function computeCover(peers: readonly string[], ruleId: string): PeerCover {
  const hosts4: string[] = [];
  const hosts6: string[] = [];
  const nets4: Net<number>[] = [];
  const nets6: Net<bigint>[] = [];
  for (const peer of peers) {
    const slash = peer.lastIndexOf("/");
    const address = parseV4(peer, 0, slash);
    if (address >= 0) {
      const length = parseLength(peer, slash, 32);
      if (length < 0) throw notCidr(peer, ruleId);
      if (length === 32) hosts4.push(peer.slice(0, slash));
      else nets4.push(net4(peer, address, length));
    } else {
      addV6(peer, slash, ruleId, hosts6, nets6);
    }
  }
  const cover4 = outermost(nets4);
  const cover6 = outermost(nets6);
  return {
    hosts4: cover4.length === 0 ? hosts4 : hosts4.filter((host) => !isIn(cover4, parseV4(host))),
    nets4: cover4.map(({ text }) => text),
    hosts6: cover6.length === 0 ? hosts6 : hosts6.filter((host) => !isIn(cover6, v6(host))),
    nets6: cover6.map(({ text }) => text),
  };
}

function addV6(
  peer: string,
  slash: number,
  ruleId: string,
  hosts: string[],
  nets: Net<bigint>[],
): void {
  const text = peer.slice(0, Math.max(slash, 0));
  const address = parseV6(text);
  const length = parseLength(peer, slash, 128);
  if (address === undefined || text === "" || length < 0) throw notCidr(peer, ruleId);
  const range = rangeOf(address, length, 128);
  if (isMapped(range)) {
    const meant = `${unmappedText(range.first)}/${length - 96}`;
    throw inexpressible(
      `peer "${peer}" of rule "${ruleId}" is an IPv4-mapped prefix; write ${meant}`,
    );
  }
  if (length === 128) hosts.push(text);
  else nets.push({ text: peer, ...range });
}

function net4(text: string, address: number, length: number): Net<number> {
  const size = 2 ** (32 - length);
  const first = Math.floor(address / size) * size;
  return { text, first, last: first + size - 1 };
}

/** Prefixes nest or are disjoint, so the cover is what no other prefix holds. */
function outermost<Address extends number | bigint>(nets: readonly Net<Address>[]): Net<Address>[] {
  const sorted = [...nets].sort((a, b) => order(a.first, b.first) || order(b.last, a.last));
  const kept: Net<Address>[] = [];
  for (const net of sorted) {
    const outer = kept.at(-1);
    if (outer === undefined || net.first > outer.last) kept.push(net);
  }
  return kept;
}

function isIn<Address extends number | bigint>(
  nets: readonly Net<Address>[],
  address: Address,
): boolean {
  let low = 0;
  let high = nets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const net = nets[middle];
    if (net !== undefined && net.last < address) low = middle + 1;
    else high = middle;
  }
  const net = nets[low];
  return net !== undefined && net.first <= address;
}

function order<Value extends number | bigint>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function v6(host: string): bigint {
  // Every host in the list was parsed before it was put there.
  return parseV6(host) ?? 0n;
}

function notCidr(peer: string, ruleId: string): Error {
  return inexpressible(`peer "${peer}" of rule "${ruleId}" is not a CIDR`);
}
