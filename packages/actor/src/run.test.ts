import { describe, expect, it } from "vitest";
import { type Clock, DONE, type Driver, type Message, type Reducer, runActor } from "./index.ts";

const clock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  random: Math.random,
  after: (delayMs, call) => {
    const timer = setTimeout(call, delayMs);
    return () => clearTimeout(timer);
  },
  soon: (call) => {
    setImmediate(call);
  },
};

const driver: Driver = {
  attach: () => undefined,
  quiesce: () => undefined,
  perform: (_effect, done) => {
    setImmediate(() => done(DONE));
  },
};

describe("runActor", () => {
  it("delivers start first and stop last, and rests when its effects are acknowledged", async () => {
    const seen: Message["kind"][] = [];
    const reducer: Reducer = {
      step(message) {
        seen.push(message.kind);
        return message.kind === "stop"
          ? [{ kind: "publish", subject: "goodbye", payload: new Uint8Array() }]
          : [];
      },
    };
    const actor = runActor(reducer, driver, clock);
    expect(await actor.stop(1000)).toBe(true);
    await actor.ended;
    expect(seen).toEqual(["start", "stop"]);
  });

  it("ends with the error that the reducer threw", async () => {
    const actor = runActor(
      {
        step() {
          throw new Error("broken invariant");
        },
      },
      driver,
      clock,
    );
    await expect(actor.ended).rejects.toThrow("broken invariant");
  });

  it("lets others have their turn while it works through an endless again", async () => {
    let steps = 0;
    const actor = runActor(
      {
        step(message) {
          steps += 1;
          return message.kind === "stop" ? [] : [{ kind: "again", tag: "on" }];
        },
      },
      driver,
      clock,
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(steps).toBeGreaterThan(10);
    expect(await actor.stop(50)).toBe(false);
  });

  it("tells of a step that took too long", async () => {
    const slow: string[] = [];
    const actor = runActor(
      {
        step(message) {
          const until = performance.now() + 15;
          while (message.kind === "start" && performance.now() < until) {
            // Busy on purpose.
          }
          return [];
        },
      },
      driver,
      clock,
      { onSlowStep: (kind) => slow.push(kind) },
    );
    await actor.stop(1000);
    expect(slow).toEqual(["start"]);
  });
});
