import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { peerSet } from "@ringwall/rendered";
import { PeerSetSchema } from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteWriter } from "./byte-writer.ts";
import { TextSets } from "./text-sets.ts";
import { TextTable } from "./text-table.ts";

const peers = fc.uniqueArray(
  fc.oneof(
    fc.integer({ min: 0, max: 40 }).map((each) => `10.0.0.${each}/32`),
    fc.integer({ min: 0, max: 20 }).map((each) => `2001:db8:1:2:3:4:5:${each.toString(16)}/128`),
  ),
  { maxLength: 40 },
);

function bytesOf(texts: readonly string[]): Uint8Array {
  return toBinary(PeerSetSchema, create(PeerSetSchema, { cidrs: [...peerSet(texts)] }));
}

function digestOf(texts: readonly string[]): string {
  return createHash("sha256").update(Uint8Array.of(1)).update(bytesOf(texts)).digest("binary");
}

describe("TextSets", () => {
  it("follows changes and replacements, and still knows what was before", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(peers, fc.boolean()), { minLength: 1 }), (states) => {
        const table = new TextTable();
        const sets = new TextSets({ type: 1, texts: table, writer: new ByteWriter() });
        let before: readonly string[] = [];
        for (const [now, replaces] of states) {
          const ids = peerSet(now).map((each) => table.hold(each));
          const hold = (texts: readonly string[]) => texts.map((each) => table.hold(each));
          if (replaces) {
            sets.replace(0, ids);
          } else {
            const added = now.filter((each) => !before.includes(each));
            const removed = before.filter((each) => !now.includes(each));
            if (added.length + removed.length > 0) {
              sets.change(0, hold(added), hold(removed));
            }
          }
          expect(sets.size(0)).toBe(now.length);
          expect(sets.bytes(0)).toBe(bytesOf(now).length);
          expect(sets.digest(0)).toBe(digestOf(now));
          expect(sets.encode(digestOf(now))).toEqual(bytesOf(now));
          const former = Array.from(sets.members(0, "before"), (id) => table.text(id));
          expect(former).toEqual([...peerSet(before)]);
          if (before.length > 0) {
            expect(sets.encode(digestOf(before))).toEqual(bytesOf(before));
          }
          sets.settle();
          before = now;
        }
        sets.drop(0);
        expect(sets.encode(digestOf(before))).toBeUndefined();
      }),
    );
  });
});
