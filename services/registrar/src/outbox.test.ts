import { describe, expect, it } from "vitest";
import { Outbox } from "./outbox.ts";

describe("the outbox", () => {
  it("lets an answer that can't be given end nothing that comes after it", () => {
    const outbox = new Outbox();
    const answer = { kind: "reply", to: "_INBOX.1", payload: new Uint8Array() } as const;
    const timer = { kind: "timer", id: "again", delayMs: 1 } as const;
    outbox.push(answer);
    outbox.push(timer);
    expect(outbox.take()).toEqual([{ kind: "fork", effects: [answer] }, timer]);
  });
});
