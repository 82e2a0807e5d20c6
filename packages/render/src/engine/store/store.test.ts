import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IntLists } from "./int-lists.ts";
import { Links } from "./links.ts";
import { Sequences } from "./sequences.ts";

const id = fc.integer({ min: 0, max: 200 });
const value = fc.integer({ min: -5, max: 1_000_000 });

describe("IntLists", () => {
  it.each(["among items", "in heads"] as const)("holds what arrays hold, singles %s", (singles) => {
    const step = fc.record({
      list: id,
      kind: fc.constantFrom("push", "insert", "remove", "swapOut", "fill", "clear", "truncate"),
      value,
      at: fc.nat(),
      many: fc.array(value, { maxLength: 20 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const lists = new IntLists(singles);
        const model = new Map<number, number[]>();
        for (const { list, kind, value: each, at, many } of steps) {
          const wanted = model.get(list) ?? [];
          const place = wanted.length === 0 ? 0 : at % wanted.length;
          if (kind === "push") {
            lists.push(list, each);
            wanted.push(each);
          } else if (kind === "insert") {
            lists.insert(list, place, each);
            wanted.splice(place, 0, each);
          } else if (kind === "fill") {
            lists.fill(list, many);
            wanted.splice(0, wanted.length, ...many);
          } else if (kind === "clear" || kind === "truncate") {
            lists[kind](list);
            wanted.length = 0;
          } else if (wanted.length > 0 && kind === "remove") {
            lists.remove(list, place);
            wanted.splice(place, 1);
          } else if (wanted.length > 0) {
            const last = wanted.pop() ?? 0;
            expect(lists.swapOut(list, place)).toBe(last);
            if (place < wanted.length) {
              wanted[place] = last;
            }
          }
          model.set(list, wanted);
        }
        for (const [list, wanted] of model) {
          expect([...lists.toArray(list)]).toEqual(wanted);
          expect(lists.length(list)).toBe(wanted.length);
        }
      }),
    );
  });
});

describe("Sequences", () => {
  it("gives equal sequences one id, also after others are gone", () => {
    const sequence = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 });
    const step = fc.record({ sequence, remove: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const sequences = new Sequences();
        const model = new Map<string, number>();
        for (const { sequence: each, remove } of steps) {
          const key = each.join();
          const known = model.get(key);
          const found = sequences.intern(each);
          expect(sequences.created).toBe(known === undefined);
          expect(found).toBe(known ?? found);
          model.set(key, found);
          if (remove) {
            sequences.remove(found);
            model.delete(key);
          }
        }
        expect(sequences.size).toBe(model.size);
        expect(new Set(model.values()).size).toBe(model.size);
        for (const [key, found] of model) {
          const items = Array.from({ length: sequences.length(found) }, (_, at) =>
            sequences.at(found, at),
          );
          expect(items.join()).toBe(key);
        }
      }),
    );
  });
});

describe("Links", () => {
  it("reads the same relation from both sides", () => {
    const small = fc.integer({ min: 0, max: 12 });
    const step = fc.record({
      kind: fc.constantFrom("link", "link", "link", "dropLeft", "dropRight"),
      left: small,
      right: small,
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const links = new Links();
        let model: (readonly [number, number])[] = [];
        for (const { kind, left, right } of steps) {
          if (kind === "link") {
            links.link(left, right);
            model.push([left, right]);
          } else if (kind === "dropLeft") {
            links.dropLeft(left);
            model = model.filter(([each]) => each !== left);
          } else {
            links.dropRight(right);
            model = model.filter(([, each]) => each !== right);
          }
        }
        for (let each = 0; each <= 12; each++) {
          const rights = Array.from({ length: links.countOfLeft(each) }, (_, at) =>
            links.rightAt(each, at),
          );
          const lefts = Array.from({ length: links.countOfRight(each) }, (_, at) =>
            links.leftAt(each, at),
          );
          const wantedRights = model.flatMap(([left, right]) => (left === each ? right : []));
          const wantedLefts = model.flatMap(([left, right]) => (right === each ? left : []));
          expect(rights.sort(byNumber)).toEqual(wantedRights.sort(byNumber));
          expect(lefts.sort(byNumber)).toEqual(wantedLefts.sort(byNumber));
        }
      }),
    );
  });
});

function byNumber(a: number, b: number): number {
  return a - b;
}
