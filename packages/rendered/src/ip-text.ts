/**
 * IP addresses as groups of 16 bits: two for IPv4, eight for IPv6. Accepts and refuses what
 * RFC 4291 §2.2 and the strict dotted form do: no leading zero in an octet, at most four digits in
 * a group, `::` once and for at least one group, a dotted tail only as the last 32 bits.
 */
export type IpGroups = readonly number[];

const DIGIT_0 = 48;
const COLON = 58;
const DOT = 46;

/** Parses an IPv4 or IPv6 address without zone; undefined if it is neither. */
export function parseIp(text: string): IpGroups | undefined {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === DOT) return parseIpv4(text, 0);
    if (unit === COLON) return parseIpv6(text);
  }
  return undefined;
}

/** True for an IPv6 address in ::ffff:0:0/96, which stands for an IPv4 address. */
export function isMappedIpv4(groups: IpGroups): boolean {
  if (groups.length !== 8 || groups[5] !== 0xffff) return false;
  for (let i = 0; i < 5; i++) if (groups[i] !== 0) return false;
  return true;
}

/** Clears every bit after the first `length` ones. */
export function maskIp(groups: IpGroups, length: number): IpGroups {
  return groups.map((group, i) => {
    const kept = length - 16 * i;
    if (kept >= 16) return group;
    return kept <= 0 ? 0 : group & (0xffff << (16 - kept));
  });
}

/** Canonical text: dotted for IPv4, RFC 5952 for IPv6 (§5: a mapped address ends in dotted form). */
export function formatIp(groups: IpGroups): string {
  if (groups.length === 2) return formatIpv4(groups, 0);
  if (isMappedIpv4(groups)) return `::ffff:${formatIpv4(groups, 6)}`;
  const [from, to] = longestZeroRun(groups);
  if (to - from < 2) return hexGroups(groups);
  return `${hexGroups(groups.slice(0, from))}::${hexGroups(groups.slice(to))}`;
}

function parseIpv4(text: string, start: number): IpGroups | undefined {
  let address = 0;
  let octet = 0;
  let digits = 0;
  let dots = 0;
  for (let i = start; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const digit = unit - DIGIT_0;
    if (digit >= 0 && digit <= 9) {
      if (digits > 0 && octet === 0) return undefined;
      octet = octet * 10 + digit;
      digits++;
      if (octet > 255) return undefined;
    } else if (unit === DOT && digits > 0 && dots < 3) {
      address = (address << 8) | octet;
      octet = 0;
      digits = 0;
      dots++;
    } else {
      return undefined;
    }
  }
  if (dots !== 3 || digits === 0) return undefined;
  address = (address << 8) | octet;
  return [address >>> 16, address & 0xffff];
}

function parseIpv6(text: string): IpGroups | undefined {
  const groups: number[] = [];
  let gap = -1;
  let at = 0;
  if (text.startsWith("::")) {
    gap = 0;
    at = 2;
  }
  while (at < text.length) {
    if (groups.length === 8) return undefined;
    const end = endOfHex(text, at);
    if (end === at || end - at > 4) return undefined;
    if (text.charCodeAt(end) === DOT) {
      const tail = groups.length <= 6 ? parseIpv4(text, at) : undefined;
      if (tail === undefined) return undefined;
      groups.push(...tail);
      break;
    }
    groups.push(Number.parseInt(text.slice(at, end), 16));
    at = end;
    if (at === text.length) break;
    if (text.charCodeAt(at) !== COLON || at + 1 === text.length) return undefined;
    at++;
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return undefined;
      gap = groups.length;
      at++;
    }
  }
  return fillGap(groups, gap);
}

function fillGap(groups: number[], gap: number): IpGroups | undefined {
  if (gap < 0) return groups.length === 8 ? groups : undefined;
  if (groups.length === 8) return undefined;
  return [
    ...groups.slice(0, gap),
    ...new Array<number>(8 - groups.length).fill(0),
    ...groups.slice(gap),
  ];
}

function endOfHex(text: string, start: number): number {
  let at = start;
  while (at < text.length && isHexDigit(text.charCodeAt(at))) at++;
  return at;
}

function isHexDigit(unit: number): boolean {
  if (unit >= DIGIT_0 && unit <= 57) return true;
  const lower = unit | 0x20;
  return lower >= 97 && lower <= 102;
}

function formatIpv4(groups: IpGroups, at: number): string {
  const high = groups[at] ?? 0;
  const low = groups[at + 1] ?? 0;
  return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
}

function hexGroups(groups: IpGroups): string {
  let text = "";
  for (const group of groups) text += text === "" ? group.toString(16) : `:${group.toString(16)}`;
  return text;
}

/** The first of the longest runs of zero groups, as a half-open range. */
function longestZeroRun(groups: IpGroups): readonly [number, number] {
  let best: readonly [number, number] = [0, 0];
  let from = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === 0) continue;
    if (i - from > best[1] - best[0]) best = [from, i];
    from = i + 1;
  }
  return best;
}
