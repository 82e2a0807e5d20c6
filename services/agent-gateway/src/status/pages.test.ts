import { names } from "@ringwall/bus";
import { describe, expect, it } from "vitest";
import { Outbox } from "../outbox.ts";
import { Session } from "../session/session.ts";
import { Pages } from "./pages.ts";

const HEAD = { epoch: 1n, version: 1, mode: 1 } as const;

function session(workload: string): Session {
  return new Session({
    ...{ workload, partition: 0, session: 1, nonce: 1n, schemaLevel: 1, agentVersion: "test" },
    ...{ facts: {}, has: { epoch: 1n, version: 1, digest: "" }, inputs: undefined, parked: [] },
    ...{ nowMs: 0, nowUnixMs: 0 },
  });
}

/** Pages of one session, looked at every tenth of a second; `written` are the times of the writes. */
class Bench {
  readonly #out = new Outbox();
  readonly #pages = new Pages(this.#out, names(), "gw", () => HEAD);
  readonly #session = session("web-1");
  readonly written: number[] = [];
  nowMs = 10_000;

  constructor() {
    this.#at();
    this.#pages.add(this.#session);
  }

  tenths(count: number, isBusy: boolean): void {
    for (let tenth = 0; tenth < count; tenth += 1) {
      this.nowMs += 100;
      this.#at();
      if (isBusy) this.#pages.touch(this.#session);
      this.#pages.write(this.nowMs, this.nowMs);
      for (const effect of this.#out.take()) {
        if (effect.kind === "fork" && effect.effects[0]?.kind === "append") {
          this.written.push(this.nowMs);
          this.#pages.written(effect.effects[0].tag, true);
        }
      }
    }
  }

  get dirty(): boolean {
    return this.#pages.dirty;
  }

  #at(): void {
    this.#pages.at({ monotonicMs: this.nowMs, wallMs: this.nowMs, random: () => 0 });
  }
}

describe("Pages", () => {
  it("are written when their changes have come to rest", () => {
    const bench = new Bench();
    bench.tenths(10, true);
    expect(bench.written).toEqual([]);
    expect(bench.dirty).toBe(true);
    bench.tenths(10, false);
    expect(bench.written).toEqual([11_300]);
    expect(bench.dirty).toBe(false);
  });

  it("are written two seconds after their first change if they change all the time", () => {
    const bench = new Bench();
    bench.tenths(45, true);
    expect(bench.written).toEqual([12_000, 14_100]);
  });

  it("are not written twice within a second", () => {
    const bench = new Bench();
    bench.tenths(3, false);
    bench.tenths(1, true);
    bench.tenths(10, false);
    expect(bench.written).toEqual([10_300, 11_200]);
  });

  it("are written again after ten seconds without a change", () => {
    const bench = new Bench();
    bench.tenths(110, false);
    expect(bench.written).toEqual([10_300, 20_300]);
  });
});
