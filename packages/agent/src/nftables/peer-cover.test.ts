import { normalizeCidr } from "@ringwall/rendered";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseV4, parseV6, rangeOf } from "./address.ts";
import { peerCover } from "./peer-cover.ts";

const v4 = fc
  .tuple(
    fc.integer({ min: 0, max: 3 }),
    fc.integer({ min: 0, max: 255 }),
    fc.integer({ min: 0, max: 32 }),
  )
  .map(([high, low, length]) => normalizeCidr(`10.${high}.0.${low}/${length}`));
const v6 = fc
  .tuple(
    fc.integer({ min: 0, max: 3 }),
    fc.integer({ min: 0, max: 255 }),
    fc.integer({ min: 0, max: 128 }),
  )
  .map(([high, low, length]) => normalizeCidr(`fd0${high}::${low.toString(16)}/${length}`));

function ranges(texts: readonly string[], bits: number) {
  return texts.map((text) => {
    const [address = "", length = `${bits}`] = text.split("/");
    const number = bits === 32 ? BigInt(parseV4(address)) : (parseV6(address) ?? -1n);
    return rangeOf(number, Number(length), bits);
  });
}

describe("peerCover", () => {
  it("is disjoint and covers exactly the same addresses of each family", () => {
    const peers = fc.array(fc.oneof(v4, v6), { maxLength: 40 });
    fc.assert(
      fc.property(peers, fc.integer({ min: 0, max: 1023 }), (list, probe) => {
        const cover = peerCover([...new Set(list)], "r/tcp");
        const sides = [
          {
            bits: 32,
            texts: [...cover.hosts4, ...cover.nets4],
            given: list.filter((t) => !t.includes(":")),
          },
          {
            bits: 128,
            texts: [...cover.hosts6, ...cover.nets6],
            given: list.filter((t) => t.includes(":")),
          },
        ];
        for (const { bits, texts, given } of sides) {
          const covered = ranges(texts, bits);
          const wanted = ranges(given, bits);
          for (const [index, one] of covered.entries()) {
            for (const other of covered.slice(index + 1)) {
              expect(one.last < other.first || other.last < one.first).toBe(true);
            }
          }
          const base = bits === 32 ? 10n << 24n : 0xfd00n << 112n;
          const low = BigInt(probe & 255);
          const high = BigInt(probe >> 8) << (bits === 32 ? 16n : 112n);
          for (const at of [base + high + low, 0n, (1n << BigInt(bits)) - 1n]) {
            const isIn = (list: readonly { first: bigint; last: bigint }[]) =>
              list.some(({ first, last }) => first <= at && at <= last);
            expect(isIn(covered)).toBe(isIn(wanted));
          }
        }
      }),
    );
  });

  it("leaves a host out that lies in a prefix", () => {
    expect(peerCover(["10.0.0.0/8", "10.0.0.1/32", "11.0.0.1/32"], "r/tcp")).toEqual({
      hosts4: ["11.0.0.1"],
      nets4: ["10.0.0.0/8"],
      hosts6: [],
      nets6: [],
    });
  });

  it("keeps families apart: all of IPv4 covers no IPv6 host", () => {
    expect(peerCover(["0.0.0.0/0", "fd00::1/128"], "r/tcp")).toMatchObject({
      nets4: ["0.0.0.0/0"],
      hosts6: ["fd00::1"],
      nets6: [],
    });
  });
});
