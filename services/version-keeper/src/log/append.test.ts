import type { Effect, Message, Task } from "@ringwall/actor";
import { describe, expect, it } from "vitest";
import { append, type Write } from "./append.ts";

const WRITE: Write = { stream: "CONFIG", subject: "s", payload: new Uint8Array(0), headers: {} };

/** The effect that a task asks for first. */
function asked(task: Task<unknown>): Effect | undefined {
  const next = task.next();
  return next.done !== true && next.value.kind === "ask" ? next.value.effect("tag") : undefined;
}

describe("append", () => {
  it("expects the subject's last sequence when it is fenced, and nothing when it is not", () => {
    const fence = { sequence: 3, write: "i:1" };
    expect(asked(append({ ...WRITE, fence }))).toMatchObject({
      kind: "append",
      expect: { sequence: 3 },
      write: "i:1",
    });
    expect(asked(append(WRITE))).not.toHaveProperty("expect");
  });

  it("throws EffectFailed when the fence is lost", () => {
    const task = append({ ...WRITE, fence: { sequence: 3, write: "i:1" } });
    task.next();
    const lost: Message = {
      kind: "failed",
      tag: "tag",
      effect: "append",
      code: "fence-lost",
      detail: "wrong last sequence",
    };
    expect(() => task.next(lost)).toThrow("append failed (fence-lost): wrong last sequence");
  });
});
