import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Effect } from "@ringwall/actor";
import { names } from "@ringwall/bus";
import { LeaseBatchSchema, MarkPresenceRequestSchema, Presence } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { Outbox } from "../outbox.ts";
import { Registry } from "../registry.ts";
import { presenceOf } from "../report.ts";
import { storedRecord } from "../testing/stored.ts";
import { LeaseKeeper } from "./lease-keeper.ts";

const NAMES = names("t");
const NAMED: readonly string[] = Object.keys(Presence);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A lease keeper with the registry it watches, whose marks are stored at once. */
class Fleet {
  readonly registry = new Registry(NAMES);
  readonly out = new Outbox();
  readonly keeper: LeaseKeeper;
  readonly effects: Effect[] = [];
  nowMs = 1_000_000;
  wallMs = 1_700_000_000_000;
  #sequence = 0;

  constructor(size: number) {
    for (const id of ids(size)) {
      this.store(id, Presence.LIVE);
    }
    this.keeper = this.#newKeeper();
    this.keeper.gain(this.nowMs);
  }

  store(id: string, presence: Presence): void {
    this.#sequence += 1;
    const record = storedRecord(NAMES, this.#sequence, { id, presence, leased: true });
    const folded = this.registry.apply(record);
    if (folded?.change !== undefined && this.keeper !== undefined) {
      this.keeper.changed(folded.change, this.nowMs);
    }
  }

  takeOver(): LeaseKeeper {
    const next = this.#newKeeper();
    next.gain(this.nowMs);
    return next;
  }

  hear(workloads: readonly string[], keeper = this.keeper): void {
    const batch = create(LeaseBatchSchema, { gateway: "g1", workloads: [...workloads] });
    keeper.heard(toBinary(LeaseBatchSchema, batch), this.nowMs);
  }

  /** Lets time pass in ticks; `alive` send heartbeats every 10 s. */
  run(forMs: number, alive: readonly string[], keeper = this.keeper): void {
    for (let passed = 0; passed < forMs; passed += SECOND) {
      this.nowMs += SECOND;
      this.wallMs += SECOND;
      keeper.evidence(this.nowMs);
      const second = Math.floor(this.nowMs / SECOND) % 10;
      this.hear(
        alive.filter((_, index) => index % 10 === second),
        keeper,
      );
      keeper.tick(this.nowMs);
      this.#perform(keeper);
    }
  }

  presences(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { record } of this.registry.workloads()) {
      const name = NAMED[record.presence] ?? "?";
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  expired(): string[] {
    return [...this.registry.workloads()]
      .filter(({ record }) => record.presence === Presence.EXPIRED)
      .map(({ record }) => record.id)
      .sort();
  }

  gauge(name: string, stage: string): number | undefined {
    const all = this.effects.filter(
      (each) => each.kind === "gauge" && each.name === name && each.labels?.stage === stage,
    );
    const last = all.at(-1);
    return last?.kind === "gauge" ? last.value : undefined;
  }

  #newKeeper(): LeaseKeeper {
    return new LeaseKeeper({
      names: NAMES,
      registry: this.registry,
      out: this.out,
      staleAfterMs: 45 * SECOND,
      expireAfterMs: 10 * MINUTE,
    });
  }

  #perform(keeper: LeaseKeeper): void {
    const effects = this.out.take().flatMap((each) => (each.kind === "fork" ? each.effects : each));
    this.effects.push(...effects);
    for (const effect of effects) {
      if (effect.kind === "request") {
        this.#mark(effect.payload);
        keeper.answered(Number(effect.tag.split(".")[1]));
      }
    }
  }

  #mark(payload: Uint8Array): void {
    for (const mark of fromBinary(MarkPresenceRequestSchema, payload).marks) {
      const stored = this.registry.get(mark.workload);
      if (stored !== undefined && BigInt(stored.sequence) === mark.revision) {
        this.store(mark.workload, presenceOf(mark.presence, stored.record.draining));
      }
    }
  }
}

function ids(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => `w-${String(from + index).padStart(4, "0")}`);
}

describe("leases", () => {
  it("marks a silent workload stale after 45 s, expired after 10 min, and live when it is back", () => {
    const fleet = new Fleet(100);
    const alive = ids(99);
    fleet.run(44 * SECOND, alive);
    expect(fleet.presences()).toEqual({ LIVE: 100 });
    fleet.run(2 * SECOND, alive);
    expect(fleet.presences()).toEqual({ LIVE: 99, STALE: 1 });
    fleet.run(9 * MINUTE, alive);
    expect(fleet.presences()).toEqual({ LIVE: 99, STALE: 1 });
    fleet.run(MINUTE, alive);
    expect(fleet.expired()).toEqual(["w-0099"]);
    fleet.hear(["w-0099"]);
    fleet.run(SECOND, alive);
    expect(fleet.presences()).toEqual({ LIVE: 100 });
  });

  it("writes transitions only", () => {
    const fleet = new Fleet(100);
    fleet.run(20 * MINUTE, ids(98));
    const requests = fleet.effects.filter((each) => each.kind === "request");
    expect(requests.length).toBeLessThanOrEqual(4);
  });

  it("expires 2 % that were cut off after their grace, and only them", () => {
    const fleet = new Fleet(1_000);
    fleet.run(15 * MINUTE, ids(980));
    expect(fleet.expired()).toEqual(ids(20, 980));
    expect(fleet.presences()).toEqual({ LIVE: 980, EXPIRED: 20 });
    expect(fleet.gauge("ringwall_mass_expiry", "expired")).toBe(0);
  });

  it("takes the silence of all for a fault: nobody is marked, an alarm is raised", () => {
    const fleet = new Fleet(1_000);
    fleet.run(MINUTE, ids(1_000));
    fleet.run(60 * MINUTE, []);
    expect(fleet.presences()).toEqual({ LIVE: 1_000 });
    expect(fleet.gauge("ringwall_mass_expiry", "stale")).toBe(1);
    const errors = fleet.effects.filter((each) => each.kind === "log" && each.level === "error");
    expect(errors).toHaveLength(2);
    const report = fleet.keeper.report(fleet.nowMs, fleet.wallMs);
    expect(report.frozen).toMatchObject([
      { stage: Presence.STALE, held: 1_000 },
      { stage: Presence.EXPIRED, held: 1_000 },
    ]);
    expect(report.frozen[0]?.workloads).toHaveLength(100);
  });

  it("freezes removal when a mass that went stale bit by bit would expire at once", () => {
    const fleet = new Fleet(100);
    // Two fifths go in turn, so that no window holds a mass of them.
    fleet.run(2 * MINUTE, ids(80));
    fleet.run(2 * MINUTE, ids(60));
    expect(fleet.presences()).toEqual({ LIVE: 60, STALE: 40 });
    // The take-over grants all of them the same time again, so they would expire together.
    const keeper = fleet.takeOver();
    fleet.run(11 * MINUTE, ids(60), keeper);
    expect(fleet.presences()).toEqual({ LIVE: 60, STALE: 40 });
    expect(fleet.gauge("ringwall_mass_expiry", "expired")).toBe(1);
  });

  it("lifts the freeze when heartbeats return, and gives the rest its time again", () => {
    const fleet = new Fleet(1_000);
    fleet.run(20 * MINUTE, []);
    expect(fleet.gauge("ringwall_mass_expiry", "stale")).toBe(1);
    fleet.run(30 * SECOND, ids(900));
    expect(fleet.gauge("ringwall_mass_expiry", "stale")).toBe(0);
    expect(fleet.presences()).toEqual({ LIVE: 1_000 });
    fleet.run(MINUTE, ids(900));
    expect(fleet.presences()).toEqual({ LIVE: 900, STALE: 100 });
    fleet.run(11 * MINUTE, ids(900));
    expect(fleet.expired()).toEqual(ids(100, 900));
  });

  it("lets the silent ones expire when an operator says that they are gone", () => {
    const fleet = new Fleet(100);
    fleet.run(2 * MINUTE, ids(50));
    expect(fleet.presences()).toEqual({ LIVE: 100 });
    expect(fleet.keeper.lift("the site burnt down", fleet.nowMs)).toBe(50);
    fleet.run(3 * SECOND, ids(50));
    expect(fleet.expired()).toEqual(ids(50, 50));
    expect(fleet.gauge("ringwall_mass_expiry", "stale")).toBe(0);
    expect(fleet.keeper.lift("again", fleet.nowMs)).toBeUndefined();
  });

  it("lets two of three expire: fewer than three are never a mass", () => {
    const fleet = new Fleet(3);
    fleet.run(11 * MINUTE, ids(1));
    expect(fleet.expired()).toEqual(ids(2, 1));
  });

  it("expires nobody wrongly when the process stood still for ten minutes", () => {
    const fleet = new Fleet(100);
    fleet.run(MINUTE, ids(100));
    fleet.nowMs += 10 * MINUTE;
    fleet.run(44 * SECOND, ids(97));
    expect(fleet.presences()).toEqual({ LIVE: 100 });
    fleet.run(3 * SECOND, ids(97));
    expect(fleet.presences()).toEqual({ LIVE: 97, STALE: 3 });
  });

  it("expires nobody when the wall clock jumps", () => {
    const fleet = new Fleet(100);
    fleet.wallMs += 365 * 24 * 60 * MINUTE;
    fleet.run(MINUTE, ids(100));
    fleet.wallMs -= 700 * 24 * 60 * MINUTE;
    fleet.run(MINUTE, ids(100));
    expect(fleet.presences()).toEqual({ LIVE: 100 });
  });

  it("concludes nothing while the bus is silent, and grants everybody a full lease after", () => {
    const fleet = new Fleet(10);
    fleet.run(MINUTE, ids(10));
    for (let passed = 0; passed < 20 * MINUTE; passed += SECOND) {
      fleet.nowMs += SECOND;
      fleet.keeper.tick(fleet.nowMs);
    }
    fleet.run(44 * SECOND, ids(8));
    expect(fleet.presences()).toEqual({ LIVE: 10 });
    fleet.run(3 * SECOND, ids(8));
    expect(fleet.presences()).toEqual({ LIVE: 8, STALE: 2 });
  });

  it("grants everybody a full lease at a take-over", () => {
    const fleet = new Fleet(100);
    fleet.run(9 * MINUTE, ids(98));
    expect(fleet.presences()).toEqual({ LIVE: 98, STALE: 2 });
    const next = fleet.takeOver();
    fleet.run(9 * MINUTE, ids(98), next);
    expect(fleet.expired()).toEqual([]);
    fleet.run(2 * MINUTE, ids(98), next);
    expect(fleet.expired()).toEqual(ids(2, 98));
  });

  it("ignores a batch that is none, and workloads that it does not know", () => {
    const fleet = new Fleet(1);
    expect(fleet.keeper.heard(new Uint8Array([255, 255]), fleet.nowMs)).toBe(false);
    fleet.hear(["nobody"]);
    expect(fleet.keeper.report(fleet.nowMs, fleet.wallMs).leased).toBe(1);
  });
});
