import { formatIp, isMappedIpv4, maskIp, parseIp } from "./ip-text.ts";
import { wellFormed } from "./text-order.ts";

const DIGIT_0 = 48;

/**
 * The one text of a peer. White space at the ends goes; a prefix loses its host bits; a bare
 * address becomes a host route, without its zone, and as IPv4 if it is an IPv4-mapped one (a
 * mapped prefix stays IPv6); addresses are written as RFC 5952 says. Anything else is no address
 * and comes back as it is, so that it stays visible. Never throws, and the result is its own
 * canonical text.
 */
export function normalizeCidr(text: string): string {
  if (isCanonicalIpv4(text)) return text;
  const trimmed = trimWhiteSpace(text);
  const slash = trimmed.lastIndexOf("/");
  const canonical = slash < 0 ? hostRoute(trimmed) : maskedPrefix(trimmed, slash);
  return canonical ?? wellFormed(trimmed);
}

function hostRoute(text: string): string | undefined {
  const percent = text.indexOf("%");
  if (percent === text.length - 1) return undefined;
  const groups = parseIp(percent < 0 ? text : text.slice(0, percent));
  if (groups === undefined || (percent >= 0 && groups.length === 2)) return undefined;
  if (groups.length === 2) return `${formatIp(groups)}/32`;
  return isMappedIpv4(groups) ? `${formatIp(groups.slice(6))}/32` : `${formatIp(groups)}/128`;
}

function maskedPrefix(text: string, slash: number): string | undefined {
  const groups = parseIp(text.slice(0, slash));
  if (groups === undefined) return undefined;
  const length = parseLength(text, slash + 1);
  if (length < 0 || length > groups.length * 16) return undefined;
  return `${formatIp(maskIp(groups, length))}/${length}`;
}

/** Plain decimal, no sign, no leading zero, at most three digits; -1 if it is not. */
function parseLength(text: string, start: number): number {
  const digits = text.length - start;
  if (digits < 1 || digits > 3) return -1;
  let length = 0;
  for (let i = start; i < text.length; i++) {
    const digit = text.charCodeAt(i) - DIGIT_0;
    if (digit < 0 || digit > 9 || (i > start && length === 0)) return -1;
    length = length * 10 + digit;
  }
  return length;
}

/**
 * True for an IPv4 prefix that is its own canonical text. Nearly every peer is one, and most were
 * normalised before, so this one pass without allocation is what a canonical policy costs.
 */
export function isCanonicalIpv4(text: string): boolean {
  if (text.length < 9 || text.length > 18) return false;
  let address = 0;
  let octet = 0;
  let digits = 0;
  let dots = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - DIGIT_0;
    if (digit >= 0 && digit <= 9) {
      if (digits > 0 && octet === 0) return false;
      octet = octet * 10 + digit;
      digits++;
      continue;
    }
    if (digits === 0 || octet > 255) return false;
    address = (address << 8) | octet;
    octet = 0;
    digits = 0;
    if (digit === -2 && dots < 3) {
      dots++;
    } else if (digit === -1 && dots === 3) {
      return isMasked(address, parseLength(text, i + 1));
    } else {
      return false;
    }
  }
  return false;
}

function isMasked(address: number, length: number): boolean {
  if (length < 0 || length > 32) return false;
  return length === 32 || (address & (0xffffffff >>> length)) === 0;
}

function trimWhiteSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhiteSpace(text.charCodeAt(start))) start++;
  while (end > start && isWhiteSpace(text.charCodeAt(end - 1))) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

/** Unicode White_Space; unlike `String.trim` with U+0085 and without U+FEFF. */
function isWhiteSpace(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0x80) return false;
  if (unit === 0x85 || unit === 0xa0 || unit === 0x1680) return true;
  if (unit >= 0x2000 && unit <= 0x200a) return true;
  return (
    unit === 0x2028 || unit === 0x2029 || unit === 0x202f || unit === 0x205f || unit === 0x3000
  );
}
