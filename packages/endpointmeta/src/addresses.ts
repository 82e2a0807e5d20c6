/** Addresses of one network interface as its host reports them. */
export interface InterfaceAddresses {
  readonly name: string;
  /** Bare or with a prefix length. */
  readonly addresses: readonly string[];
}

interface Address {
  /** Canonical text, without zone or length. */
  readonly text: string;
  readonly family: 4 | 6;
  /** Fixed-width hex digits: their text order is the order of the addresses. */
  readonly hex: string;
}

const V4 = /^([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})$/;
const V6 = /^[0-9A-Fa-f:.]+$/;
const LENGTH = /^(?:0|[1-9][0-9]{0,2})$/;
const MAPPED = "00000000000000000000ffff";

/**
 * Addresses under which a workload is a peer: of all interfaces whatever their name, each bare or
 * with a prefix length, parsed strictly, IPv4-mapped ones unmapped, then without loopback,
 * link-local, multicast and unspecified ones. Unique, IPv4 first, each family in address order; the
 * host part is kept. Entries that do not parse are skipped. A zone is dropped from a bare address
 * and does not parse together with a length.
 */
export function workloadAddresses(interfaces: readonly InterfaceAddresses[]): string[] {
  return usableAddresses(interfaces.flatMap(({ addresses }) => addresses));
}

/** `workloadAddresses` for a flat list. */
export function usableAddresses(addresses: Iterable<string>): string[] {
  const found = new Map<string, Address>();
  for (const text of addresses) {
    const address = parseAddress(text);
    if (address !== undefined && isUsable(address)) found.set(address.text, address);
  }
  return [...found.values()].sort(addressOrder).map(({ text }) => text);
}

/**
 * Canonical bare text of an address with or without prefix length: dotted IPv4, RFC 5952 IPv6,
 * IPv4-mapped addresses as IPv4. Undefined if it does not parse or is not usable by a workload.
 */
export function canonicalAddress(text: string): string | undefined {
  const address = parseAddress(text);
  return address !== undefined && isUsable(address) ? address.text : undefined;
}

function parseAddress(text: string): Address | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) {
    const percent = text.indexOf("%");
    if (percent < 0) return parseBare(text);
    const zoned = text.slice(0, percent);
    return percent + 1 < text.length && zoned.includes(":") ? parseBare(zoned) : undefined;
  }
  const length = text.slice(slash + 1);
  const bare = text.slice(0, slash);
  const limit = bare.includes(":") ? 128 : 32;
  return LENGTH.test(length) && Number(length) <= limit ? parseBare(bare) : undefined;
}

function parseBare(text: string): Address | undefined {
  return text.includes(":") ? parseV6(text) : parseV4(text);
}

function parseV4(text: string): Address | undefined {
  const parts = V4.exec(text)?.slice(1);
  if (parts === undefined) return undefined;
  const fits = parts.every((part) => Number(part) <= 255 && (part === "0" || part[0] !== "0"));
  return fits
    ? { text, family: 4, hex: parts.map((part) => hexOf(Number(part), 2)).join("") }
    : undefined;
}

function parseV6(text: string): Address | undefined {
  // The URL parser of the platform reads IPv6 strictly and writes RFC 5952; only characters of an
  // address reach it.
  const url = `http://[${text}]/`;
  if (!V6.test(text) || !URL.canParse(url)) return undefined;
  const canonical = new URL(url).hostname.slice(1, -1);
  const [left = "", right] = canonical.split("::");
  const head = groupsOf(left);
  const tail = groupsOf(right ?? "");
  const zeros = new Array<string>(8 - head.length - tail.length).fill("0000");
  const hex = [...head, ...zeros, ...tail].join("");
  return hex.startsWith(MAPPED)
    ? unmapped(hex.slice(MAPPED.length))
    : { text: canonical, family: 6, hex };
}

function groupsOf(text: string): string[] {
  return text === "" ? [] : text.split(":").map((group) => group.padStart(4, "0"));
}

function unmapped(hex: string): Address {
  const bytes = [0, 2, 4, 6].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return { text: bytes.join("."), family: 4, hex };
}

function hexOf(value: number, width: number): string {
  return value.toString(16).padStart(width, "0");
}

/** False for loopback, link-local, multicast and unspecified addresses. */
function isUsable({ family, hex }: Address): boolean {
  if (family === 4) {
    return !(hex === "00000000" || /^(?:7f|a9fe|e)/.test(hex));
  }
  return !(/^0{31}[01]$/.test(hex) || /^(?:fe[89ab]|ff)/.test(hex));
}

function addressOrder(a: Address, b: Address): number {
  if (a.family !== b.family) return a.family - b.family;
  return a.hex < b.hex ? -1 : 1;
}
