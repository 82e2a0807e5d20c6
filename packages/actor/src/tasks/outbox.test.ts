import { describe, expect, it } from "vitest";
import type { Effect } from "../effect.ts";
import { Outbox } from "./outbox.ts";

const READ: Effect = { kind: "read-at", tag: "r", stream: "CONFIG", sequence: 1 };
const AGAIN: Effect = { kind: "again", tag: "a" };

describe("Outbox", () => {
  it("gives what may fail a chain of its own, and leaves what is certain in the step's", () => {
    const outbox = new Outbox();
    outbox.add(READ);
    outbox.add(AGAIN);
    expect(outbox.take()).toEqual([{ kind: "fork", effects: [READ] }, AGAIN]);
  });

  it("keeps a chain together, and passes another reducer's effects as they are", () => {
    const outbox = new Outbox();
    outbox.chain([READ, AGAIN]);
    outbox.pass([READ, AGAIN]);
    expect(outbox.take()).toEqual([{ kind: "fork", effects: [READ, AGAIN] }, READ, AGAIN]);
  });

  it("is empty once its effects were taken", () => {
    const outbox = new Outbox();
    outbox.count("seen_total");
    outbox.log("info", "seen");
    expect(outbox.take()).toEqual([
      { kind: "count", name: "seen_total", by: 1, labels: {} },
      { kind: "log", level: "info", message: "seen", fields: {} },
    ]);
    expect(outbox.take()).toEqual([]);
  });
});
