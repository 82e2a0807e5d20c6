/**
 * Addresses and prefixes by plain arithmetic on 128-bit numbers. Nothing here is shared with the
 * code that it checks.
 */

interface Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

const MAPPED = 0xffffn;

/** Canonical text of a peer: a masked prefix or a host route; anything else trimmed. */
export function peerText(text: string): string {
  const trimmed = text.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "");
  const slash = trimmed.lastIndexOf("/");
  if (slash < 0) {
    const address = parseAddress(trimmed);
    if (address === undefined) {
      return trimmed;
    }
    const folded = fold(address);
    return `${addressText(folded)}/${folded.family === 4 ? 32 : 128}`;
  }
  const address = parseAddress(trimmed.slice(0, slash));
  const length = /^(?:0|[1-9][0-9]{0,2})$/.test(trimmed.slice(slash + 1))
    ? Number(trimmed.slice(slash + 1))
    : -1;
  const size = address?.family === 4 ? 32 : 128;
  if (address === undefined || length < 0 || length > size) {
    return trimmed;
  }
  const host = BigInt(size - length);
  const masked = (address.bits >> host) << host;
  return `${addressText({ family: address.family, bits: masked })}/${length}`;
}

/** Canonical text of a bare address, mapped ones as IPv4; undefined if it is none. */
export function bareAddressText(text: string): string | undefined {
  const address = parseAddress(text.trim());
  return address === undefined ? undefined : addressText(fold(address));
}

function fold(address: Address): Address {
  return address.family === 6 && address.bits >> 32n === MAPPED
    ? { family: 4, bits: address.bits & 0xffffffffn }
    : address;
}

function parseAddress(text: string): Address | undefined {
  if (text.includes(":")) {
    const bits = parseV6(text);
    return bits === undefined ? undefined : { family: 6, bits };
  }
  const bits = parseV4(text);
  return bits === undefined ? undefined : { family: 4, bits };
}

function parseV4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9][0-9]{0,2})$/.test(part))) {
    return undefined;
  }
  const numbers = parts.map(Number);
  return numbers.every((number) => number <= 255)
    ? numbers.reduce((bits, number) => (bits << 8n) | BigInt(number), 0n)
    : undefined;
}

function parseV6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) {
    return undefined;
  }
  const head = parseGroups(halves[0] ?? "", halves.length === 1);
  const tail = halves.length === 1 ? [] : parseGroups(halves[1] ?? "", true);
  if (head === undefined || tail === undefined) {
    return undefined;
  }
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) {
    return undefined;
  }
  const groups = [...head, ...new Array<bigint>(missing).fill(0n), ...tail];
  return groups.reduce((bits, group) => (bits << 16n) | group, 0n);
}

function parseGroups(text: string, dotted: boolean): bigint[] | undefined {
  const groups: bigint[] = [];
  const parts = text === "" ? [] : text.split(":");
  for (const [index, part] of parts.entries()) {
    if (dotted && index === parts.length - 1 && part.includes(".")) {
      const bits = parseV4(part);
      if (bits === undefined) {
        return undefined;
      }
      groups.push(bits >> 16n, bits & 0xffffn);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(BigInt(`0x${part}`));
    } else {
      return undefined;
    }
  }
  return groups;
}

function addressText({ family, bits }: Address): string {
  if (family === 4) {
    return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join(".");
  }
  if (bits >> 32n === MAPPED) {
    return `::ffff:${addressText({ family: 4, bits: bits & 0xffffffffn })}`;
  }
  return v6Text(bits);
}

/** RFC 5952: the first longest run of at least two zero groups becomes `::`. */
export function v6Text(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((bits >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
  );
  let best = { start: 0, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === "0") {
      length += 1;
    }
    if (length > best.length) {
      best = { start, length };
    }
  }
  if (best.length < 2) {
    return groups.join(":");
  }
  const head = groups.slice(0, best.start).join(":");
  return `${head}::${groups.slice(best.start + best.length).join(":")}`;
}
