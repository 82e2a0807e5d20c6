const DIGIT_0 = 48;
const DOT = 46;
const SLASH = 47;

/** First address of ::ffff:0:0/96, whose members stand for IPv4 addresses. */
const MAPPED_FIRST = 0xffff_0000_0000n;
const MAPPED_LAST = 0xffff_ffff_ffffn;

/** Inclusive range of the addresses of one family as numbers. */
export interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * Number of a dotted IPv4 address in `text` from `start`, up to `end`; -1 if it is none. No sign, no
 * leading zero, four octets.
 */
export function parseV4(text: string, start = 0, end = text.length): number {
  let address = 0;
  let octet = 0;
  let digits = 0;
  let dots = 0;
  for (let at = start; at < end; at += 1) {
    const unit = text.charCodeAt(at);
    const digit = unit - DIGIT_0;
    if (digit >= 0 && digit <= 9) {
      if (digits > 0 && octet === 0) return -1;
      octet = octet * 10 + digit;
      digits += 1;
      if (octet > 255) return -1;
    } else if (unit === DOT && digits > 0 && dots < 3) {
      address = address * 256 + octet;
      octet = 0;
      digits = 0;
      dots += 1;
    } else {
      return -1;
    }
  }
  return dots === 3 && digits > 0 ? address * 256 + octet : -1;
}

/** Number of an IPv6 address without zone; undefined if it is none. */
export function parseV6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] ?? "", halves.length === 1);
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? "", true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  let value = 0n;
  for (const group of [...head, ...new Array<number>(missing).fill(0), ...tail]) {
    value = (value << 16n) | BigInt(group);
  }
  return value;
}

function groupsOf(text: string, mayEndDotted: boolean): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (/^[0-9A-Fa-f]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16));
      continue;
    }
    const dotted = mayEndDotted && index === parts.length - 1 ? parseV4(part) : -1;
    if (dotted < 0) return undefined;
    groups.push(Math.floor(dotted / 65_536), dotted % 65_536);
  }
  return groups;
}

/** Prefix length after the slash at `slash`: plain decimal up to `limit`; -1 if it is none. */
export function parseLength(text: string, slash: number, limit: number): number {
  const digits = text.length - slash - 1;
  if (slash < 0 || text.charCodeAt(slash) !== SLASH || digits < 1 || digits > 3) return -1;
  let length = 0;
  for (let at = slash + 1; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - DIGIT_0;
    if (digit < 0 || digit > 9 || (at > slash + 1 && length === 0)) return -1;
    length = length * 10 + digit;
  }
  return length <= limit ? length : -1;
}

/** The addresses of a prefix; `bits` is 32 or 128. */
export function rangeOf(address: bigint, length: number, bits: number): AddressRange {
  const size = 1n << BigInt(bits - length);
  const first = (address / size) * size;
  return { first, last: first + size - 1n };
}

/** True if the whole range stands for IPv4 addresses. */
export function isMapped({ first, last }: AddressRange): boolean {
  return first >= MAPPED_FIRST && last <= MAPPED_LAST;
}

/** Text of the IPv4 address that an IPv4-mapped IPv6 address stands for. */
export function unmappedText(address: bigint): string {
  const value = Number(address & 0xffff_ffffn);
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".");
}
