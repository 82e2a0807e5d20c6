import { describe, expect, it } from "vitest";
import { type Mark, Trail } from "./trail.ts";

/** A stream by its messages: sequence, subject, time. */
function check(marks: readonly Mark[], stored: readonly [number, string, number][], first = 1) {
  const trail = new Trail();
  for (const mark of marks) {
    trail.add(mark);
  }
  return trail.check(
    {
      timeAt: (sequence) => Promise.resolve(stored.find(([at]) => at === sequence)?.[2]),
      lastOf: (subject) => Promise.resolve(stored.findLast(([, name]) => name === subject)?.[0]),
    },
    first,
  );
}

const mark = (sequence: number, subject: string, expires = false): Mark => ({
  sequence,
  subject,
  unixMs: sequence * 10,
  expires,
});

describe("the trail of a reader", () => {
  const read = [mark(1, "a"), mark(2, "b"), mark(3, "c")];

  it("finds the newest record in its place", async () => {
    expect(await check(read, [[3, "c", 30]])).toBeUndefined();
  });

  it("finds another record in the place of one that was read", async () => {
    expect(await check(read, [[3, "x", 77]])).toContain("another");
  });

  it("takes a record for replaced only by one that was not read yet", async () => {
    const moved: [number, string, number][] = [
      [2, "b", 20],
      [4, "c", 40],
    ];
    expect(await check(read, moved)).toBeUndefined();
    expect(await check(read, [[2, "b", 20]])).toContain("nothing has replaced it");
  });

  it("is not misled by a restored store that has grown past the reader's place", async () => {
    // b and c were written after the copy was made; the other branch never had them.
    const branch: [number, string, number][] = [
      [1, "a", 10],
      [4, "x", 99],
      [5, "y", 99],
    ];
    expect(await check(read, branch)).toContain("message 3 is gone");
  });

  it("expects neither what was trimmed nor what goes by itself", async () => {
    expect(await check(read, [[9, "z", 90]], 9)).toBeUndefined();
    const lease = [...read, mark(4, "lease", true)];
    expect(await check(lease, [[3, "c", 30]])).toBeUndefined();
  });
});
