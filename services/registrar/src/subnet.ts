/** A network as bits: addresses of the other family are never in it. */
export interface Subnet {
  readonly family: 4 | 6;
  /** The address bits above the host part. */
  readonly prefix: bigint;
  readonly hostBits: bigint;
}

interface Bits {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/**
 * Reads `address/length` or a bare address (a host route). Bits of the host part are ignored.
 * Undefined if it does not parse.
 */
export function parseSubnet(text: string): Subnet | undefined {
  const [address = "", length, ...more] = text.split("/");
  const bits = addressBits(address);
  if (bits === undefined || more.length > 0) {
    return undefined;
  }
  const width = bits.family === 4 ? 32 : 128;
  if (length !== undefined && (!/^(0|[1-9]\d{0,2})$/.test(length) || Number(length) > width)) {
    return undefined;
  }
  const hostBits = BigInt(width - Number(length ?? width));
  return { family: bits.family, prefix: bits.value >> hostBits, hostBits };
}

/** True if the bare address lies in the subnet. */
export function inSubnet(address: string, subnet: Subnet): boolean {
  const bits = addressBits(address);
  return bits?.family === subnet.family && bits.value >> subnet.hostBits === subnet.prefix;
}

function addressBits(text: string): Bits | undefined {
  return text.includes(":") ? v6Bits(text) : v4Bits(text);
}

function v4Bits(text: string): Bits | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  if (parts === undefined || parts.some((part) => part > 255)) {
    return undefined;
  }
  return { family: 4, value: parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n) };
}

function v6Bits(text: string): Bits | undefined {
  const url = `http://[${text}]/`;
  if (!/^[0-9A-Fa-f:.]+$/.test(text) || !URL.canParse(url)) {
    return undefined;
  }
  const [left = "", right = ""] = new URL(url).hostname.slice(1, -1).split("::");
  const groups = (side: string) => (side === "" ? [] : side.split(":"));
  const zeros = new Array<string>(8 - groups(left).length - groups(right).length).fill("0");
  const all = [...groups(left), ...zeros, ...groups(right)];
  const value = all.reduce((bits, each) => (bits << 16n) | BigInt(`0x${each}`), 0n);
  return { family: 6, value };
}
