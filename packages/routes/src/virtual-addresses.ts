import { createHash } from "node:crypto";
import { compareBytes } from "./byte-order.ts";

/** Block of the virtual IPv4 addresses: class E, which no host owns. */
export const VIRTUAL_V4_CIDR = "240.0.0.0/4";

/** Block of the virtual IPv6 addresses: a unique local prefix, fixed for all control planes. */
export const VIRTUAL_V6_CIDR = "fd5e:956f:5b7e::/48";

/** The virtual addresses of one service. */
export interface VirtualAddresses {
  readonly v4: string;
  /** RFC 5952 text. */
  readonly v6: string;
}

// The first address of a block and the last of class E, which is the limited broadcast, stay free.
const V4_FIRST = 0xf000_0001;
const V4_SLOTS = 2 ** 28 - 2;
const V6_PREFIX = "fd5e:956f:5b7e";
const V6_SLOTS = 2n ** 80n - 1n;

/**
 * Gives each outbound service one virtual address of each family. A pure function of the set of
 * names: SHA-256 of the name picks a slot, a taken slot leads to the next one (linear probing, wrapping
 * around), names are placed in byte order; so a new name may move a colliding one. IPv4 takes the
 * hash's first 4 bytes modulo 2^28 - 2, IPv6 its first 10 modulo 2^80 - 1.
 */
export function assignVirtualAddresses(names: Iterable<string>): Map<string, VirtualAddresses> {
  const v4 = new Set<number>();
  const v6 = new Set<bigint>();
  const assigned = new Map<string, VirtualAddresses>();
  for (const name of [...new Set(names)].sort(compareBytes)) {
    const hash = createHash("sha256").update(name).digest();
    let slot4 = hash.readUInt32BE(0) % V4_SLOTS;
    while (v4.has(slot4)) slot4 = (slot4 + 1) % V4_SLOTS;
    v4.add(slot4);
    let slot6 = BigInt(`0x${hash.toString("hex", 0, 10)}`) % V6_SLOTS;
    while (v6.has(slot6)) slot6 = (slot6 + 1n) % V6_SLOTS;
    v6.add(slot6);
    assigned.set(name, { v4: v4Text(V4_FIRST + slot4), v6: v6Text(slot6 + 1n) });
  }
  return assigned;
}

function v4Text(value: number): string {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".");
}

function v6Text(host: bigint): string {
  const groups = host.toString(16).padStart(20, "0").match(/.{4}/g) ?? [];
  // The platform's URL parser writes RFC 5952.
  return new URL(`http://[${[V6_PREFIX, ...groups].join(":")}]/`).hostname.slice(1, -1);
}
