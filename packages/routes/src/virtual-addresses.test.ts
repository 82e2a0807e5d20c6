import { isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assignVirtualAddresses } from "./index.ts";

/** The first 4 bytes of their hashes are equal modulo the number of IPv4 slots. */
const COLLIDING = ["svc/12346", "svc/15465"] as const;

describe("assignVirtualAddresses", () => {
  it("has fixed addresses for a name without collisions", () => {
    expect(assignVirtualAddresses(["shop/cart"]).get("shop/cart")).toEqual({
      v4: "255.52.162.124",
      v6: "fd5e:956f:5b7e:5f34:a271:19d1:56b2:4eb5",
    });
  });

  it("is a function of the set of names", () => {
    const names = fc.array(fc.string(), { maxLength: 50 });
    fc.assert(
      fc.property(names, (given) => {
        const once = assignVirtualAddresses(given);
        expect(assignVirtualAddresses([...given, ...given].reverse())).toEqual(once);
        expect(once.size).toBe(new Set(given).size);
        expect(new Set([...once.values()].map(({ v4 }) => v4)).size).toBe(once.size);
        for (const { v4, v6 } of once.values()) {
          expect(isIPv4(v4) && Number(v4.split(".")[0]) >= 240).toBe(true);
          expect(v4).not.toBe("255.255.255.255");
          expect(isIPv6(v6) && v6.startsWith("fd5e:956f:5b7e:")).toBe(true);
        }
      }),
    );
  });

  it("gives colliding names neighbouring addresses, the earlier name its own", () => {
    const [first, second] = COLLIDING;
    const alone = assignVirtualAddresses([second]).get(second);
    const both = assignVirtualAddresses([second, first]);
    expect(both.get(first)).toEqual(assignVirtualAddresses([first]).get(first));
    expect(both.get(second)?.v4).not.toBe(alone?.v4);
    expect(both.get(second)?.v6).toBe(alone?.v6);
    expect(both.get(first)?.v4).toBe(alone?.v4);
  });
});
