import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { peerSet } from "./index.ts";
import { setDifference } from "./set-difference.ts";
import { union, without } from "./sets.ts";

const peers = fc
  .uniqueArray(fc.nat(120), { maxLength: 100 })
  .map((numbers) => numbers.map((n) => `10.0.0.${n}/32`));

describe("peerSet", () => {
  it("gives a canonical set back as it is", () => {
    const set = peerSet(["10.0.0.2", "10.0.0.1"]);
    expect(set).toEqual(["10.0.0.1/32", "10.0.0.2/32"]);
    expect(peerSet(set)).toBe(set);
  });

  it("copies a list that is in canonical form already", () => {
    const list = ["10.0.0.1/32", "10.0.0.2/32"];
    const set = peerSet(list);
    list.push("10.0.0.3/32");
    expect(set).toEqual(["10.0.0.1/32", "10.0.0.2/32"]);
  });

  it("gives equal lists one set while it is in use", () => {
    const list = Array.from({ length: 50 }, (_, i) => `10.0.0.${i}`);
    expect(peerSet(list.toReversed())).toBe(peerSet(list));
  });
});

describe("union and without", () => {
  it("do what sets do, however many texts are edited", () => {
    fc.assert(
      fc.property(peers, peers, (a, b) => {
        const left = peerSet(a);
        const right = peerSet(b);
        expect(union(left, right, "peers")).toEqual(peerSet([...a, ...b]));
        expect(without(left, right, "peers")).toEqual(peerSet(a.filter((p) => !b.includes(p))));
      }),
      { numRuns: 1000 },
    );
  });

  it("give the set itself back when nothing changes", () => {
    const set = peerSet(["10.0.0.1", "10.0.0.2"]);
    expect(union(set, peerSet(["10.0.0.2"]), "peers")).toBe(set);
    expect(without(set, peerSet(["10.0.0.3"]), "peers")).toBe(set);
  });
});

describe("setDifference", () => {
  it("leads from one set to the other", () => {
    fc.assert(
      fc.property(peers, peers, (a, b) => {
        const from = peerSet(a);
        const to = peerSet(b);
        const { added, removed } = setDifference(from, to, "peers") ?? {
          added: peerSet([]),
          removed: peerSet([]),
        };
        expect(without(union(from, added, "peers"), removed, "peers")).toEqual(to);
        expect(added.some((peer) => from.includes(peer))).toBe(false);
        expect(removed.every((peer) => from.includes(peer))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it("is computed once for a pair of sets", () => {
    const from = peerSet(["10.0.0.1"]);
    const to = peerSet(["10.0.0.2"]);
    expect(setDifference(from, to, "peers")).toBe(setDifference(from, to, "peers"));
  });
});
