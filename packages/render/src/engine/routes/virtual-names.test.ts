import { assignVirtualAddresses } from "@ringwall/routes";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VirtualNames } from "./virtual-names.ts";

/** Two pairs whose names pick the same IPv4 slot, two names with neighbouring slots, and others. */
const NAMES = [
  ...["shop/s21799", "shop/s25319", "shop/s25967", "shop/s56099"],
  ...["shop/s6113", "shop/s32893", "shop/cart", "shop/pay"],
] as const;

describe("VirtualNames", () => {
  it("begins with names that really collide", () => {
    const home = assignVirtualAddresses(["shop/s25319"]).get("shop/s25319");
    const both = assignVirtualAddresses(["shop/s21799", "shop/s25319"]).get("shop/s25319");
    expect(both?.v4).not.toBe(home?.v4);
  });

  it("gives what the whole assignment gives, whatever came and went before", () => {
    const batches = fc.array(
      fc.array(fc.record({ name: fc.constantFrom(...NAMES), hold: fc.boolean() }), {
        maxLength: 4,
      }),
    );
    fc.assert(
      fc.property(batches, (history) => {
        const names = new VirtualNames();
        const held = new Map<string, number>();
        let before = new Map<string, string | undefined>();
        for (const batch of history) {
          for (const { name, hold } of batch) {
            const count = held.get(name) ?? 0;
            if (hold) {
              names.hold(name);
              held.set(name, count + 1);
            } else if (count > 0) {
              names.release(name);
              held.set(name, count - 1);
            }
          }
          const changed = new Set(names.update());
          const present = NAMES.filter((name) => (held.get(name) ?? 0) > 0);
          const wanted = assignVirtualAddresses(present);
          const now = new Map<string, string | undefined>();
          for (const name of present) {
            expect(names.of(name)).toEqual(wanted.get(name));
            now.set(name, names.of(name)?.v4);
            expect(changed.has(name) || before.get(name) === now.get(name)).toBe(true);
          }
          before = now;
        }
      }),
    );
  });
});
