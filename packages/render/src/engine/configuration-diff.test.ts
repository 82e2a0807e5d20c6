import { describe, expect, it } from "vitest";
import { changedUnits } from "./configuration-diff.ts";

interface Unit {
  readonly name: string;
  readonly value: number;
}

const unit = (name: string): Unit => ({ name, value: 1 });
const [a, b, c, d] = [unit("a"), unit("b"), unit("c"), unit("d")];
const changed = (before: readonly Unit[], after: readonly Unit[]) => {
  const { gone, put } = changedUnits(before, after, ({ name }) => name);
  return { gone, put: put.map(({ name, value }) => [name, value]) };
};

describe("changedUnits", () => {
  it("names units that changed, however far apart they stand", () => {
    const after = [{ ...a, value: 2 }, b, c, { ...d, value: 3 }];
    expect(changed([a, b, c, d], after)).toEqual({
      gone: [],
      put: [
        ["a", 2],
        ["d", 3],
      ],
    });
  });

  it("tells what went from what came, in lists of one length and of two", () => {
    expect(changed([a, b], [b, c])).toEqual({ gone: ["a"], put: [["c", 1]] });
    expect(changed([a, b, c], [a, d])).toEqual({ gone: ["b", "c"], put: [["d", 1]] });
    expect(changed([], [a])).toEqual({ gone: [], put: [["a", 1]] });
  });

  it("does not name units that moved or that another object says the same of", () => {
    expect(changed([a, b, c], [c, { ...a }, b])).toEqual({ gone: [], put: [] });
  });
});
