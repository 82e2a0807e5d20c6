import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DigestHolders } from "./digest-holders.ts";

describe("DigestHolders", () => {
  it("finds some holder of a digest for as long as there is one", () => {
    const toggles = fc.array(fc.tuple(fc.nat(20), fc.nat(3)), { maxLength: 200 });
    fc.assert(
      fc.property(toggles, (steps) => {
        const digests = new Map<number, string>();
        const holders = new DigestHolders((holder) => digests.get(holder));
        for (const [holder, number] of steps) {
          const before = digests.get(holder);
          if (before !== undefined) {
            holders.remove(before, holder);
            digests.delete(holder);
          } else {
            digests.set(holder, `digest ${number}`);
            holders.add(`digest ${number}`, holder);
          }
          for (const digest of ["digest 0", "digest 1", "digest 2", "digest 3"]) {
            const first = holders.first(digest);
            const isHeld = [...digests.values()].includes(digest);
            expect(first === undefined ? undefined : digests.get(first)).toBe(
              isHeld ? digest : undefined,
            );
          }
        }
      }),
    );
  });
});
