import { describe, expect, it } from "vitest";
import { FormerStates } from "./former-states.ts";

const ROWS: never[] = [];

function state(id: string, labels: Record<string, string>) {
  return { id, labels, rows: ROWS };
}

describe("FormerStates", () => {
  it("tell what a workload was at a revision and since", () => {
    const former = new FormerStates();
    const [one, two] = [state("a", { v: "1" }), state("a", { v: "2" })];
    former.replaced("a", 5, undefined, one);
    former.replaced("a", 9, one, two);
    former.replaced("a", 12, two, undefined);
    expect(former.since("a", 4)).toEqual([one, two]);
    expect(former.since("a", 5)).toEqual([one, two]);
    expect(former.since("a", 9)).toEqual([two]);
    expect(former.since("a", 12)).toEqual([]);
    expect(former.since("b", 1)).toEqual([]);
  });

  it("pass over changes that no filter can see", () => {
    const former = new FormerStates();
    const labels = { v: "1" };
    former.replaced("a", 5, state("a", labels), state("a", labels));
    expect(former.since("a", 4)).toEqual([]);
  });

  it("say that they do not know what they have forgotten", () => {
    const former = new FormerStates(100);
    former.raiseFloor(3);
    expect(former.since("a", 2)).toBeUndefined();
    for (let sequence = 4; sequence < 1_000; sequence += 1) {
      const id = `w-${sequence % 7}`;
      former.replaced(id, sequence, state(id, { v: `${sequence}` }), state(id, {}));
    }
    expect(former.since("w-1", 898)).toBeUndefined();
    expect(former.since("w-1", 980)?.map(({ labels }) => labels.v)).toEqual(["981", "988", "995"]);
  });
});
