import type { Effect, Message } from "@ringwall/actor";
import { describe, expect, it } from "vitest";
import { Mutex } from "./mutex.ts";
import { Outbox } from "./outbox.ts";
import { append, EffectFailed, pause, readLast, signalled, slice, type Task } from "./task.ts";
import { Tasks } from "./tasks.ts";

function rig() {
  const outbox = new Outbox();
  const tasks = new Tasks(outbox);
  const flat = (effects: readonly Effect[]): Effect[] =>
    effects.flatMap((effect) => (effect.kind === "fork" ? flat(effect.effects) : [effect]));
  const asked = () => flat(outbox.flush());
  const tagOf = (effect: Effect | undefined): string =>
    effect === undefined ? "" : "tag" in effect ? effect.tag : "id" in effect ? effect.id : "";
  return { tasks, asked, tagOf };
}

describe("Tasks", () => {
  it("resumes a task with the answer that carries its tag", () => {
    const { tasks, asked, tagOf } = rig();
    const ends: unknown[] = [];
    tasks.start(readLast("CONFIG", "rw.config.commit"), (outcome) => ends.push(outcome));
    const [effect] = asked();
    expect(effect).toMatchObject({ kind: "read-last", stream: "CONFIG" });
    expect(tasks.take({ kind: "read", tag: "else", record: undefined })).toBe(false);
    expect(tasks.take({ kind: "read", tag: tagOf(effect), record: undefined })).toBe(true);
    expect(ends).toEqual([{ ok: true, value: undefined }]);
    expect(tasks.size).toBe(0);
  });

  it("throws EffectFailed into the task when the effect failed", () => {
    const { tasks, asked, tagOf } = rig();
    let error: unknown;
    const fence = { sequence: 3, write: "i:1" };
    const write = {
      stream: "CONFIG",
      subject: "s",
      payload: new Uint8Array(0),
      headers: {},
      fence,
    };
    tasks.start(append(write), (outcome) => {
      error = outcome.ok ? undefined : outcome.error;
    });
    const [effect] = asked();
    expect(effect).toMatchObject({ kind: "append", expect: { sequence: 3 }, write: "i:1" });
    const detail = "wrong last sequence";
    tasks.take({
      kind: "failed",
      tag: tagOf(effect),
      effect: "append",
      code: "fence-lost",
      detail,
    });
    expect(error).toBeInstanceOf(EffectFailed);
    expect(error).toMatchObject({ code: "fence-lost" });
  });

  it("does not take a late answer to an earlier wait for the present one", () => {
    const { tasks, asked, tagOf } = rig();
    const steps: string[] = [];
    function* work(): Task<void> {
      yield* signalled("news", 1_000);
      steps.push("woken");
      yield* pause(5);
      steps.push("paused");
    }
    tasks.start(work(), () => steps.push("done"));
    const late = tagOf(asked()[0]);
    tasks.signal("news");
    const [cancel, timer] = asked();
    expect(cancel).toMatchObject({ kind: "cancel-timer", id: late });
    tasks.take({ kind: "timer", id: late });
    expect(steps).toEqual(["woken"]);
    tasks.take({ kind: "timer", id: tagOf(timer) });
    expect(steps).toEqual(["woken", "paused", "done"]);
  });

  it("tells a signal from the end of the time", () => {
    const { tasks, asked, tagOf } = rig();
    const ends: unknown[] = [];
    tasks.start(signalled("news", 10), (outcome) => ends.push(outcome));
    tasks.take({ kind: "timer", id: tagOf(asked()[0]) });
    expect(ends).toEqual([{ ok: true, value: false }]);
  });

  it("runs the finally blocks of a dropped task, and nothing else of it", () => {
    const { tasks, asked, tagOf } = rig();
    const steps: string[] = [];
    function* work(): Task<void> {
      try {
        yield* slice();
        steps.push("went on");
      } finally {
        steps.push("finally");
      }
    }
    const id = tasks.start(work(), () => steps.push("done"));
    const tag = tagOf(asked()[0]);
    tasks.drop(id);
    tasks.take({ kind: "again", tag });
    expect(steps).toEqual(["finally"]);
  });

  it("keeps tasks out of what a mutex protects until the holder leaves, even by an error", () => {
    const { tasks, asked, tagOf } = rig();
    const mutex = new Mutex(tasks, "m");
    const steps: string[] = [];
    const work = (name: string, fails: boolean) => () =>
      (function* body(): Task<void> {
        steps.push(`${name} in`);
        yield* slice();
        if (fails) {
          throw new Error(name);
        }
        steps.push(`${name} out`);
      })();
    tasks.start(mutex.hold(work("a", true)), () => steps.push("a end"));
    tasks.start(mutex.hold(work("b", false)), () => steps.push("b end"));
    const again = () => asked().find(({ kind }) => kind === "again");
    const message = (effect: Effect | undefined): Message => ({
      kind: "again",
      tag: tagOf(effect),
    });
    tasks.take(message(again()));
    tasks.take(message(again()));
    expect(steps).toEqual(["a in", "b in", "a end", "b out", "b end"]);
  });
});
