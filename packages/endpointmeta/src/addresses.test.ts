import { isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalAddress, usableAddresses, workloadAddresses } from "./index.ts";

const group = fc.oneof(
  fc.constantFrom("0", "00", "ffff", "fe80", "12345", ""),
  fc.stringMatching(/^[0-9a-f]{1,4}$/),
);
const v6ish = fc.oneof(
  fc.array(group, { minLength: 1, maxLength: 9 }).map((groups) => groups.join(":")),
  fc
    .tuple(fc.array(group, { maxLength: 5 }), fc.array(group, { maxLength: 5 }))
    .map(([left, right]) => `${left.join(":")}::${right.join(":")}`),
  fc
    .tuple(fc.constantFrom("::ffff:", "::", "1:2:3:4:5:6:", "1:2:3:4:5:6:7:"), fc.ipV4())
    .map((parts) => parts.join("")),
  fc.ipV6(),
);

describe("usableAddresses", () => {
  it("drops a zone from a bare address and refuses it with a length", () => {
    expect(
      usableAddresses(["fd00::1%eth0", "fd00::2%eth0/64", "10.0.0.1%eth0", "fd00::3%"]),
    ).toEqual(["fd00::1"]);
  });

  it("checks prefix lengths by family", () => {
    expect(usableAddresses(["10.0.0.1/32", "10.0.0.2/33", "fd00::1/128", "fd00::2/129"])).toEqual([
      "10.0.0.1",
      "fd00::1",
    ]);
    expect(usableAddresses(["10.0.0.1/+8", "10.0.0.1/ 8", "10.0.0.1/8/8", "10.0.0.1/-0"])).toEqual(
      [],
    );
  });

  it("keeps broadcast and private ranges, which hosts do report", () => {
    expect(usableAddresses(["255.255.255.255", "100.64.0.1", "0.0.0.1"])).toEqual([
      "0.0.0.1",
      "100.64.0.1",
      "255.255.255.255",
    ]);
  });

  it("orders IPv6 by value, not by text", () => {
    expect(usableAddresses(["fd00::10", "fd00::9", "2001:db8::1", "fd00::a"])).toEqual([
      "2001:db8::1",
      "fd00::9",
      "fd00::a",
      "fd00::10",
    ]);
  });

  it("accepts exactly what the platform accepts as an address", () => {
    fc.assert(
      fc.property(v6ish, (text) => {
        if (!isIPv6(text)) expect(canonicalAddress(text)).toBeUndefined();
        const usable = usableAddresses([text]);
        for (const each of usable) expect(isIPv4(each) || isIPv6(each)).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        // A prefix that is global whatever follows, so that every address is usable.
        const global = text.replace(/^[^:]*/, "2001");
        if (isIPv6(global)) expect(canonicalAddress(global)).toBeDefined();
      }),
    );
  });

  it("does not depend on order, repetition or spelling, and is stable", () => {
    const addresses = fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), v6ish));
    fc.assert(
      fc.property(addresses, (given) => {
        const once = usableAddresses(given);
        expect(usableAddresses([...given, ...given].reverse())).toEqual(once);
        expect(usableAddresses(once)).toEqual(once);
        expect(usableAddresses(given.map((text) => text.toUpperCase()))).toEqual(once);
      }),
    );
  });
});

describe("workloadAddresses", () => {
  it("reads every interface whatever its name", () => {
    const interfaces = [
      { name: "lo", addresses: ["127.0.0.1/8", "10.9.9.9/32"] },
      { name: "eth0", addresses: ["fd00::17/64", "::ffff:10.0.4.17"] },
    ];
    expect(workloadAddresses(interfaces)).toEqual(["10.0.4.17", "10.9.9.9", "fd00::17"]);
  });
});
