import { describe, expect, it } from "vitest";
import { FormerStates } from "./former-states.ts";

const ROWS: never[] = [];

function state(id: string, labels: Record<string, string>) {
  return { id, labels, rows: ROWS };
}

/** Values of the label `v` that a workload had at a revision and since. */
function since(former: FormerStates, id: string, revision: number): string[] | undefined {
  const seen: string[] = [];
  const known = former.some(id, revision, ({ labels }) => {
    seen.push(labels.v ?? "");
    return false;
  });
  return known === undefined ? undefined : seen.reverse();
}

describe("FormerStates", () => {
  it("tell what a workload was at a revision and since", () => {
    const former = new FormerStates();
    const [one, two] = [state("a", { v: "1" }), state("a", { v: "2" })];
    former.replaced("a", 5, undefined, one);
    former.replaced("a", 9, one, two);
    former.replaced("a", 12, two, undefined);
    expect(since(former, "a", 4)).toEqual(["1", "2"]);
    expect(since(former, "a", 5)).toEqual(["1", "2"]);
    expect(since(former, "a", 9)).toEqual(["2"]);
    expect(since(former, "a", 12)).toEqual([]);
    expect(since(former, "b", 1)).toEqual([]);
  });

  it("pass over changes that no filter can see", () => {
    const former = new FormerStates();
    const labels = { v: "1" };
    former.replaced("a", 5, state("a", labels), state("a", labels));
    expect(since(former, "a", 4)).toEqual([]);
  });

  it("say that they do not know what they have forgotten", () => {
    const former = new FormerStates(100);
    former.raiseFloor(3);
    expect(since(former, "a", 2)).toBeUndefined();
    for (let sequence = 4; sequence < 1_000; sequence += 1) {
      const id = `w-${sequence % 7}`;
      former.replaced(id, sequence, state(id, { v: `${sequence}` }), state(id, {}));
    }
    expect(since(former, "w-1", 898)).toBeUndefined();
    expect(since(former, "w-1", 980)).toEqual(["981", "988", "995"]);
  });
});
