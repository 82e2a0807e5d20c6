import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizeCidr } from "./index.ts";

const group = fc.oneof(fc.constant("0"), fc.constant("ffff"), fc.nat(0xffff).map(hexText));
const fullIpv6 = fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(":"));

/** Texts that look like addresses and often are none. */
const nearAddress = fc
  .array(
    fc.constantFrom("0", "1", "10", "255", "256", "00", "ffff", "12345", "g", ".", ":", "::"),
    {
      minLength: 1,
      maxLength: 14,
    },
  )
  .map((parts) => parts.join(""));

describe("normalizeCidr", () => {
  it.each([
    ["10.0.4.17/24", "10.0.4.0/24"],
    ["10.0.4.17", "10.0.4.17/32"],
    ["255.255.255.255/0", "0.0.0.0/0"],
    ["FD00::ABCD/112", "fd00::/112"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3/128"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1/128"],
    ["0:0:1:0:0:1:0:0", "::1:0:0:1:0:0/128"],
    ["::10.0.0.1", "::a00:1/128"],
    ["1:2:3:4:5:6:10.0.0.1", "1:2:3:4:5:6:a00:1/128"],
  ])("writes %s as %s", (text, canonical) => {
    expect(normalizeCidr(text)).toBe(canonical);
  });

  it.each([
    ["::ffff:10.0.0.1", "10.0.0.1/32"],
    ["::ffff:10.0.0.1%eth0", "10.0.0.1/32"],
    ["::ffff:10.0.0.1/128", "::ffff:10.0.0.1/128"],
    ["::ffff:10.0.0.1/96", "::ffff:0.0.0.0/96"],
    ["::ffff:10.0.0.1/90", "::ffc0:0:0/90"],
  ])("folds a mapped address to IPv4 but not a mapped prefix: %s", (text, canonical) => {
    expect(normalizeCidr(text)).toBe(canonical);
  });

  it("drops the zone of a bare address and leaves a prefix with a zone as it is", () => {
    expect(normalizeCidr("fe80::1%eth0")).toBe("fe80::1/128");
    expect(normalizeCidr("fe80::1%eth0/64")).toBe("fe80::1%eth0/64");
    expect(normalizeCidr("fe80::1%")).toBe("fe80::1%");
    expect(normalizeCidr("10.0.0.1%eth0")).toBe("10.0.0.1%eth0");
  });

  it.each([
    "10.0.0.1/33",
    "10.0.0.1/+8",
    "10.0.0.1/08",
    "10.0.0.1/",
    "10.0.0.1/8/8",
    "10.0.0.1/1e1",
    "010.0.0.1/32",
    "10.0.0.256/32",
    "10.0.0/8",
    "10.0.0.0.1/32",
    "10..0.1/32",
    "/8",
    "fd00::1/129",
    "::1::/64",
    ":::",
    "1:2:3:4:5:6:7:8::",
    "1:2:3:4:5:6:7:8:",
    "1:2:3:4:5:6:7:10.0.0.1",
    "::10.0.0.1:1",
    "12345::",
    "[fd00::1]",
    "１0.0.0.1",
  ])("leaves %s, which is no address, as it is", (text) => {
    expect(normalizeCidr(text)).toBe(text);
  });

  it("trims Unicode white space and nothing else", () => {
    expect(normalizeCidr("\u0085\u00a0\u3000\t10.0.0.1\u2028 ")).toBe("10.0.0.1/32");
    expect(normalizeCidr("\ufeff10.0.0.1")).toBe("\ufeff10.0.0.1");
    expect(normalizeCidr("\u001f10.0.0.1")).toBe("\u001f10.0.0.1");
    expect(normalizeCidr(" nope ")).toBe("nope");
  });

  it("is its own normal form for any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), nearAddress, fullIpv6), (text) => {
        const once = normalizeCidr(text);
        expect(normalizeCidr(once)).toBe(once);
      }),
      { numRuns: 3000 },
    );
  });

  it("takes for an address what the platform takes for one", () => {
    fc.assert(
      fc.property(fc.oneof(nearAddress, fullIpv6, fc.ipV4(), fc.ipV6()), (text) => {
        expect(normalizeCidr(text) !== text).toBe(isIP(text) !== 0);
      }),
      { numRuns: 5000 },
    );
  });

  it("writes IPv6 as a URL's host does", () => {
    fc.assert(
      fc.property(fc.oneof(fullIpv6, fc.ipV6()), (text) => {
        const written = new URL(`http://[${text}]/`).hostname.slice(1, -1);
        fc.pre(!written.startsWith("::ffff:"));
        expect(normalizeCidr(text)).toBe(`${written}/128`);
      }),
      { numRuns: 3000 },
    );
  });

  it("masks IPv4 prefixes of every length", () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), fc.nat(32), (address, length) => {
        const masked = (BigInt(address) >> BigInt(32 - length)) << BigInt(32 - length);
        expect(normalizeCidr(`${dotted(BigInt(address))}/${length}`)).toBe(
          `${dotted(masked)}/${length}`,
        );
      }),
    );
  });
});

function hexText(value: number): string {
  return value.toString(16);
}

function dotted(address: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join(".");
}
