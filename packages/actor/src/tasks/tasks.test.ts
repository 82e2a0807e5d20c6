import { describe, expect, it } from "vitest";
import type { Effect } from "../effect.ts";
import type { Message } from "../message.ts";
import { EffectFailed } from "./effect-failed.ts";
import { Outbox } from "./outbox.ts";
import { readLast } from "./reads.ts";
import { ask, chain, pause, signalled, slice, type Task } from "./task.ts";
import { Tasks } from "./tasks.ts";

function rig() {
  const outbox = new Outbox();
  const tasks = new Tasks(outbox, "t");
  const flat = (effects: readonly Effect[]): Effect[] =>
    effects.flatMap((effect) => (effect.kind === "fork" ? flat(effect.effects) : [effect]));
  return { outbox, tasks, asked: () => flat(outbox.take()) };
}

function tagOf(effect: Effect | undefined): string {
  return effect === undefined ? "" : "tag" in effect ? effect.tag : "id" in effect ? effect.id : "";
}

function failed(tag: string): Message {
  return { kind: "failed", tag, effect: "read-at", code: "unavailable", detail: "no leader" };
}

function* noting(steps: string[], work: Task<unknown>): Task<void> {
  try {
    yield* work;
    steps.push("went on");
  } finally {
    steps.push("finally");
  }
}

describe("Tasks", () => {
  it("resumes a task with the answer that carries its tag", () => {
    const { tasks, asked } = rig();
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
    const { tasks, asked } = rig();
    let error: unknown;
    const work = ask((tag) => ({ kind: "read-last", tag, stream: "CONFIG", subject: "s" }));
    tasks.start(work, (outcome) => {
      error = outcome.ok ? undefined : outcome.error;
    });
    tasks.take(failed(tagOf(asked()[0])));
    expect(error).toBeInstanceOf(EffectFailed);
    expect(error).toMatchObject({ name: "EffectFailed", code: "unavailable" });
  });

  it("throws what a task throws out of the step when nobody hears of its end", () => {
    const { tasks, asked } = rig();
    tasks.start(readLast("CONFIG", "s"));
    const tag = tagOf(asked()[0]);
    expect(() => tasks.take(failed(tag))).toThrow(EffectFailed);
  });

  it("leaves the answers of another set of tasks to it", () => {
    const { outbox, tasks, asked } = rig();
    const others = new Tasks(outbox, "u");
    const steps: string[] = [];
    tasks.start(noting(steps, slice()));
    const tag = tagOf(asked()[0]);
    expect(others.take({ kind: "again", tag })).toBe(false);
    expect(tasks.take({ kind: "again", tag })).toBe(true);
    expect(steps).toEqual(["went on", "finally"]);
  });

  it("goes on at the end of a chain, not at the answers of its parts", () => {
    const { outbox, tasks } = rig();
    const steps: string[] = [];
    const read = (tag: string, sequence: number): Effect => {
      return { kind: "read-at", tag, stream: "CONFIG", sequence };
    };
    tasks.start(
      noting(
        steps,
        chain((tag) => [read(tag, 1), read(tag, 2)]),
      ),
    );
    const tag = "t/1/1";
    const again: Effect = { kind: "again", tag };
    expect(outbox.take()).toEqual([{ kind: "fork", effects: [read(tag, 1), read(tag, 2), again] }]);
    tasks.take({ kind: "read", tag, record: undefined });
    tasks.take({ kind: "read", tag, record: undefined });
    expect(steps).toEqual([]);
    tasks.take({ kind: "again", tag });
    expect(steps).toEqual(["went on", "finally"]);
  });

  it("throws at the first part of a chain that fails", () => {
    const { tasks, asked } = rig();
    const ends: unknown[] = [];
    const work = chain((tag) => [{ kind: "read-at", tag, stream: "CONFIG", sequence: 1 }]);
    tasks.start(work, (outcome) => ends.push(outcome));
    tasks.take(failed(tagOf(asked()[0])));
    expect(ends).toMatchObject([{ ok: false, error: { code: "unavailable" } }]);
  });

  it("does not take a late answer to an earlier wait for the present one", () => {
    const { tasks, asked } = rig();
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
    const { tasks, asked } = rig();
    const ends: unknown[] = [];
    tasks.start(signalled("news", 10), (outcome) => ends.push(outcome));
    tasks.take({ kind: "timer", id: tagOf(asked()[0]) });
    expect(ends).toEqual([{ ok: true, value: false }]);
  });

  it("wakes nothing that waits for time alone or for another signal", () => {
    const { tasks, asked } = rig();
    const steps: string[] = [];
    tasks.start(noting(steps, pause(10)));
    tasks.start(noting(steps, signalled("news", 10)));
    asked();
    tasks.signal("");
    tasks.signal(tasks.newSignal());
    expect(steps).toEqual([]);
    expect(asked()).toEqual([]);
  });

  it("does not wake a task that an earlier one of the same signal dropped", () => {
    const { tasks, asked } = rig();
    const steps: string[] = [];
    let second = 0;
    tasks.start(signalled("news", 10), () => tasks.drop(second));
    second = tasks.start(noting(steps, signalled("news", 10)));
    asked();
    tasks.signal("news");
    expect(steps).toEqual(["finally"]);
  });

  it("runs the finally blocks of a dropped task, and nothing else of it", () => {
    const { tasks, asked } = rig();
    const steps: string[] = [];
    const id = tasks.start(noting(steps, slice()), () => steps.push("done"));
    const tag = tagOf(asked()[0]);
    tasks.drop(id);
    tasks.drop(id);
    expect(tasks.take({ kind: "again", tag })).toBe(true);
    expect(steps).toEqual(["finally"]);
    expect(asked()).toEqual([]);
  });

  it.each<[string, () => Task<unknown>]>([
    ["time", () => pause(10)],
    ["a signal", () => signalled("news", 10)],
  ])("cancels the timer of a dropped task that waits for %s", (_what, work) => {
    const { tasks, asked } = rig();
    const id = tasks.start(noting([], work()));
    const tag = tagOf(asked()[0]);
    tasks.drop(id);
    expect(asked()).toEqual([{ kind: "cancel-timer", id: tag }]);
  });

  it("forgets all tasks without running anything of them", () => {
    const { tasks, asked } = rig();
    const steps: string[] = [];
    tasks.start(noting(steps, signalled("news", 10)));
    tasks.start(noting(steps, slice()));
    const [timer, again] = asked();
    tasks.dropAll();
    tasks.signal("news");
    tasks.take({ kind: "timer", id: tagOf(timer) });
    tasks.take({ kind: "again", tag: tagOf(again) });
    expect(steps).toEqual([]);
    expect(tasks.size).toBe(0);
  });

  it("asks for nothing more when a task forgot the set that it runs in", () => {
    const { tasks, asked } = rig();
    function* work(): Task<void> {
      yield* slice();
      tasks.dropAll();
      yield* slice();
    }
    tasks.start(work());
    tasks.take({ kind: "again", tag: tagOf(asked()[0]) });
    expect(asked()).toEqual([]);
  });
});
