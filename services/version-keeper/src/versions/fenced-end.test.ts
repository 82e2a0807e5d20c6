import type { Message, Task } from "@ringwall/actor";
import { describe, expect, it } from "vitest";
import type { KeeperContext } from "../context.ts";
import { FencedEnd } from "./fenced-end.ts";

const RECORD = { payload: new Uint8Array(), headers: {} };

function bench() {
  const suspicions: string[] = [];
  const context = { nextWrite: () => "mine:2" } as unknown as KeeperContext;
  const end = new FencedEnd(context, "rw.version.0", (reason) => suspicions.push(reason));
  end.opened({ sequence: 7, write: "mine:1" });
  return { end, suspicions };
}

/** Runs a task whose questions are answered in order; what it asked for, and how it ended. */
function run(task: Task<number>, answers: readonly object[]) {
  const asked: string[] = [];
  const [...left] = answers;
  try {
    let step = task.next();
    while (!step.done) {
      const { effect } = step.value as unknown as { effect: (tag: string) => { kind: string } };
      asked.push(effect("t").kind);
      step = task.next(left.shift() as Message as never);
    }
    return { asked, ended: step.value };
  } catch (error) {
    return { asked, ended: error instanceof Error ? error.message : "" };
  }
}

const stored = { kind: "appended", tag: "t", sequence: 9 };

function standing(write: string) {
  const record = { subject: "rw.version.0", sequence: 7, headers: { "Rw-Write": write } };
  return { kind: "read", tag: "t", record };
}

describe("the end of a partition's log", () => {
  it("is not looked at while the connection stays", () => {
    const { end } = bench();
    expect(run(end.store(RECORD), [stored])).toEqual({ asked: ["append"], ended: 9 });
  });

  it("is looked at after the connection was away, once", () => {
    const { end } = bench();
    end.doubt();
    const first = run(end.store(RECORD), [standing("mine:1"), stored]);
    expect(first).toEqual({ asked: ["read-at", "append"], ended: 9 });
    expect(run(end.store(RECORD), [stored]).asked).toEqual(["append"]);
  });

  it("is written behind no more when another record stands there", () => {
    const { end, suspicions } = bench();
    end.doubt();
    const { asked, ended } = run(end.store(RECORD), [standing("another:5")]);
    expect(asked).toEqual(["read-at"]);
    expect(ended).toContain("fence-lost");
    expect(suspicions).toHaveLength(1);
  });
});
