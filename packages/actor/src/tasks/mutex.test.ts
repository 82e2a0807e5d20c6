import { describe, expect, it } from "vitest";
import { Mutex } from "./mutex.ts";
import { Outbox } from "./outbox.ts";
import { slice, type Task } from "./task.ts";
import { Tasks } from "./tasks.ts";

describe("Mutex", () => {
  it("keeps tasks out until the holder leaves, even by an error", () => {
    const outbox = new Outbox();
    const tasks = new Tasks(outbox, "t");
    const mutex = new Mutex(tasks, "m");
    const steps: string[] = [];
    function* body(name: string, fails: boolean): Task<void> {
      steps.push(`${name} in`);
      yield* slice();
      if (fails) {
        throw new Error(name);
      }
      steps.push(`${name} out`);
    }
    const goOn = () => {
      for (const effect of outbox.take()) {
        if (effect.kind === "again") {
          tasks.take({ kind: "again", tag: effect.tag });
        }
      }
    };
    tasks.start(
      mutex.hold(() => body("a", true)),
      () => steps.push("a end"),
    );
    tasks.start(
      mutex.hold(() => body("b", false)),
      () => steps.push("b end"),
    );
    goOn();
    goOn();
    expect(steps).toEqual(["a in", "b in", "a end", "b out", "b end"]);
  });
});
