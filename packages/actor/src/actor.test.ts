import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  Actor,
  APPEND_WINDOW,
  type Clock,
  DONE,
  type Driver,
  type Effect,
  failure,
  MAILBOX_MARK,
  type Message,
  type Outcome,
  type OutsideEffect,
  type Reducer,
} from "./index.ts";

class HeldDriver implements Driver {
  readonly performed: OutsideEffect[] = [];
  readonly pending: ((outcome: Outcome) => void)[] = [];
  attach(): void {}
  quiesce(): void {}
  perform(effect: OutsideEffect, done: (outcome: Outcome) => void): void {
    this.performed.push(effect);
    this.pending.push(done);
  }
}

const clock: Clock = {
  wallMs: () => 0,
  monotonicMs: () => 0,
  random: () => 0.5,
  after: (_delayMs, call) => {
    timers.push(call);
    return () => undefined;
  },
  soon: (call) => call(),
};
const timers: (() => void)[] = [];

function fixture(script: (message: Message) => readonly Effect[]) {
  const seen: Message[] = [];
  const reducer: Reducer = {
    step(message) {
      seen.push(message);
      return script(message);
    },
  };
  const driver = new HeldDriver();
  const actor = new Actor({ reducer, driver, clock });
  const runAll = () => {
    while (actor.stepOnce() !== undefined) {
      // Until nothing waits.
    }
  };
  return { actor, driver, seen, runAll };
}

const read = (tag: string): Effect => ({ kind: "read-last", tag, stream: "S", subject: "s" });
const append = (tag: string, fenced: boolean): Effect => ({
  kind: "append",
  tag,
  stream: "S",
  subject: "s",
  payload: new Uint8Array(1),
  ...(fenced ? { expect: { sequence: 0 }, write: "i:1" } : {}),
});

describe("Actor", () => {
  it("runs the effects of a step one after the other", () => {
    const { actor, driver, runAll, seen } = fixture((message) =>
      message.kind === "start" ? [read("a"), read("b")] : [],
    );
    actor.deliver({ kind: "start" });
    runAll();
    expect(driver.performed.map((effect) => "tag" in effect && effect.tag)).toEqual(["a"]);
    driver.pending[0]?.({ ok: true, message: { kind: "read", tag: "a", record: undefined } });
    runAll();
    expect(driver.performed).toHaveLength(2);
    expect(seen.at(-1)).toEqual({ kind: "read", tag: "a", record: undefined });
    expect(actor.chains).toBe(1);
    driver.pending[1]?.(DONE);
    expect(actor.chains).toBe(0);
  });

  it("ends a chain at a failure and delivers it with its tag", () => {
    const { actor, driver, runAll, seen } = fixture((message) =>
      message.kind === "start" ? [append("a", true), append("b", true)] : [],
    );
    actor.deliver({ kind: "start" });
    runAll();
    driver.pending[0]?.(failure("fence-lost", "expected 0, is 4"));
    runAll();
    expect(driver.performed).toHaveLength(1);
    expect(seen.at(-1)).toEqual({
      kind: "failed",
      tag: "a",
      effect: "append",
      code: "fence-lost",
      detail: "expected 0, is 4",
    });
    expect(actor.chains).toBe(0);
  });

  it("sends neighbouring unfenced appends in a window and waits for all before the next effect", () => {
    const appends = Array.from({ length: APPEND_WINDOW + 10 }, (_, i) => append(`${i}`, false));
    const { actor, driver, runAll } = fixture((message) =>
      message.kind === "start" ? [...appends, read("after")] : [],
    );
    actor.deliver({ kind: "start" });
    runAll();
    expect(driver.performed).toHaveLength(APPEND_WINDOW);
    for (let i = 0; i < appends.length; i += 1) {
      expect(driver.performed.some((effect) => effect.kind === "read-last")).toBe(false);
      driver.pending[i]?.(DONE);
    }
    expect(driver.performed.at(-1)?.kind).toBe("read-last");
  });

  it("lets a fork go on when the chain that began it fails", () => {
    const { actor, driver, runAll } = fixture((message) =>
      message.kind === "start"
        ? [{ kind: "fork", effects: [read("f1"), read("f2")] }, read("a"), read("b")]
        : [],
    );
    actor.deliver({ kind: "start" });
    runAll();
    expect(driver.performed).toHaveLength(2);
    driver.pending[1]?.(failure("unavailable", "away"));
    driver.pending[0]?.(DONE);
    expect(driver.performed.map((effect) => "tag" in effect && effect.tag)).toEqual([
      "f1",
      "a",
      "f2",
    ]);
  });

  it("delivers again after the messages that wait", () => {
    const { actor, runAll, seen } = fixture((message) =>
      message.kind === "start" ? [{ kind: "again", tag: "more" }] : [],
    );
    actor.deliver({ kind: "start" });
    actor.deliver({ kind: "reconnected" });
    runAll();
    expect(seen.map((message) => message.kind)).toEqual(["start", "reconnected", "again"]);
  });

  it("tells readers when it is full and when there is room", () => {
    const { actor } = fixture(() => []);
    let room = false;
    for (let i = 0; i < MAILBOX_MARK; i += 1) {
      actor.deliver({ kind: "timer", id: "t" });
    }
    expect(actor.full).toBe(true);
    actor.whenRoom(() => {
      room = true;
    });
    expect(room).toBe(false);
    actor.stepOnce();
    expect(room).toBe(true);
  });

  it("delivers nothing after it was closed", () => {
    const { actor, driver, runAll, seen } = fixture(() => [read("a")]);
    actor.deliver({ kind: "start" });
    runAll();
    actor.close();
    driver.pending[0]?.({ ok: true, message: { kind: "read", tag: "a", record: undefined } });
    runAll();
    expect(seen).toHaveLength(1);
  });

  it("keeps the order of messages whatever waits in between", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 20 }), (bursts) => {
        const { actor, seen } = fixture(() => []);
        let sent = 0;
        for (const burst of bursts) {
          for (let i = 0; i < burst; i += 1) {
            actor.deliver({ kind: "timer", id: `${sent}` });
            sent += 1;
          }
          for (let i = 0; i < burst / 2; i += 1) {
            actor.stepOnce();
          }
        }
        while (actor.stepOnce() !== undefined) {
          // Until nothing waits.
        }
        return (
          seen.length === sent &&
          seen.every((message, i) => message.kind === "timer" && message.id === `${i}`)
        );
      }),
      { numRuns: 30 },
    );
  });
});
