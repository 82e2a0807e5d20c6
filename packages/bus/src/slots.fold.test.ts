import type { AppendEffect, Effect, Message, Moment } from "@ringwall/actor";
import { describe, expect, it } from "vitest";
import { names, Slots } from "./index.ts";

const NAMES = names();

/** Slots of one instance that shares alone, driven by hand. */
function sharing() {
  const slots = new Slots({ names: NAMES, instance: "one", service: "s", slots: ["s.0"] });
  let monotonicMs = 0;
  const appends: AppendEffect[] = [];
  const kinds: string[] = [];
  const take = (effects: readonly Effect[]) => {
    for (const effect of effects) {
      if (effect.kind === "fork") {
        take(effect.effects);
      } else {
        kinds.push(effect.kind);
        if (effect.kind === "append") {
          appends.push(effect);
        }
      }
    }
  };
  const step = (message: Message) => {
    const moment: Moment = { wallMs: monotonicMs, monotonicMs, random: () => 0.5 };
    take(slots.step(message, moment));
  };
  const refuse = () =>
    step({
      kind: "failed",
      tag: "slots.slot.s.0",
      effect: "append",
      code: "fence-lost",
      detail: "wrong last sequence: 9",
    });
  step({ kind: "start" });
  step({ kind: "appended", tag: "slots.renew", sequence: 1 });
  step({ kind: "caught-up", reader: "slots", sequence: 0 });
  return {
    step,
    refuse,
    kinds,
    owned: () => slots.owned.size,
    claims: () => appends.filter(({ tag }) => tag === "slots.slot.s.0").length,
    /** Places that renewals expected so far. */
    renewals: () =>
      appends.filter(({ tag }) => tag === "slots.renew").map(({ expect: at }) => at?.sequence),
    wait: (ms: number) => {
      for (const untilMs = monotonicMs + ms; monotonicMs < untilMs; ) {
        monotonicMs += 500;
        step({ kind: "timer", id: "slots.look" });
        step({ kind: "appended", tag: "slots.renew", sequence: 1 });
      }
    },
  };
}

describe("a claim that is overtaken", () => {
  it("is not repeated in a storm while the record that overtook it is on its way", () => {
    const { refuse, claims } = sharing();
    expect(claims()).toBe(1);
    refuse();
    expect(claims()).toBe(1);
  });

  it("has OWNERS read again when that record never comes", () => {
    const { refuse, kinds, wait } = sharing();
    for (let times = 0; times < 12; times += 1) {
      refuse();
      wait(500);
    }
    expect(kinds).toContain("unfollow");
  });
});

describe("a lease", () => {
  it("is renewed only where it was stored last; otherwise OWNERS is read anew, after a renewal", () => {
    const { step, kinds, owned, renewals } = sharing();
    step({ kind: "appended", tag: "slots.slot.s.0", sequence: 2 });
    expect(owned()).toBe(1);
    step({ kind: "timer", id: "slots.renew" });
    step({ kind: "appended", tag: "slots.renew", sequence: 7 });
    step({ kind: "timer", id: "slots.renew" });
    expect(renewals()).toEqual([undefined, 1, 7]);
    const lost = {
      effect: "append",
      code: "fence-lost",
      detail: "wrong last sequence: 0",
    } as const;
    step({ kind: "failed", tag: "slots.renew", ...lost });
    expect(owned()).toBe(0);
    kinds.length = 0;
    step({ kind: "timer", id: "slots.follow" });
    expect(kinds).toEqual(["append"]);
    expect(renewals().at(-1)).toBeUndefined();
    step({ kind: "appended", tag: "slots.renew", sequence: 3 });
    expect(kinds).toEqual(["append", "follow"]);
  });
});
