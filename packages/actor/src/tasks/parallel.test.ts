import { describe, expect, it } from "vitest";
import { Outbox } from "./outbox.ts";
import { parallel } from "./parallel.ts";
import { readAt } from "./reads.ts";
import type { Task } from "./task.ts";
import { Tasks } from "./tasks.ts";

/** Starts work on five sequences, two at a time, of which `bad` throws. */
function rig(bad?: number) {
  const outbox = new Outbox();
  const tasks = new Tasks(outbox, "t");
  const ends: unknown[] = [];
  const asked = new Map<number, string>();
  function* read(sequence: number): Task<string> {
    yield* readAt("CONFIG", sequence);
    if (sequence === bad) {
      throw new Error(`bad ${sequence}`);
    }
    return `got ${sequence}`;
  }
  tasks.start(parallel(tasks, [1, 2, 3, 4, 5], 2, read), (outcome) => ends.push(outcome));
  /** Sequences that are being read. */
  const reading = (): number[] => {
    for (const effect of outbox.take()) {
      const [inner] = effect.kind === "fork" ? effect.effects : [];
      if (inner?.kind === "read-at") {
        asked.set(inner.sequence, inner.tag);
      }
    }
    return [...asked.keys()];
  };
  const answer = (sequence: number): void => {
    const tag = asked.get(sequence) ?? "";
    asked.delete(sequence);
    tasks.take({ kind: "read", tag, record: undefined });
  };
  return { tasks, ends, reading, answer };
}

describe("parallel", () => {
  it("runs at most so many at a time and returns the results in order", () => {
    const { ends, reading, answer } = rig();
    expect(reading()).toEqual([1, 2]);
    answer(2);
    expect(reading()).toEqual([1, 3]);
    answer(3);
    expect(reading()).toEqual([1, 4]);
    answer(1);
    expect(reading()).toEqual([4, 5]);
    answer(5);
    answer(4);
    expect(ends).toEqual([{ ok: true, value: ["got 1", "got 2", "got 3", "got 4", "got 5"] }]);
  });

  it("throws the first error after those that run have ended, and starts no more", () => {
    const { tasks, ends, reading, answer } = rig(2);
    expect(reading()).toEqual([1, 2]);
    answer(2);
    expect(reading()).toEqual([1]);
    expect(ends).toEqual([]);
    answer(1);
    expect(ends).toMatchObject([{ ok: false, error: { message: "bad 2" } }]);
    expect(tasks.size).toBe(0);
  });
});
