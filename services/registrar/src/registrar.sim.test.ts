import { partitionOf } from "@ringwall/bus";
import {
  DeregisterWorkloadRequestSchema,
  DeregisterWorkloadResponseSchema,
  GetLeasesRequestSchema,
  GetLeasesResponseSchema,
  LiftFreezeRequestSchema,
  LiftFreezeResponseSchema,
  ListWorkloadsRequestSchema,
  ListWorkloadsResponseSchema,
  Presence,
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
  WorkloadSource,
} from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { SimulatedFleet } from "./testing/simulated-fleet.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const REPORT = [ReportWorkloadRequestSchema, ReportWorkloadResponseSchema] as const;
const DEREGISTER = [DeregisterWorkloadRequestSchema, DeregisterWorkloadResponseSchema] as const;
const LIST = [ListWorkloadsRequestSchema, ListWorkloadsResponseSchema] as const;
const LEASES = [GetLeasesRequestSchema, GetLeasesResponseSchema] as const;
const LIFT = [LiftFreezeRequestSchema, LiftFreezeResponseSchema] as const;

function ids(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `w-${String(index).padStart(4, "0")}`);
}

describe("registrars in simulation", { timeout: 180_000 }, () => {
  it("expire nobody when the network is cut for all of 1,000 workloads", () => {
    const fleet = new SimulatedFleet(1, 2);
    fleet.register(ids(1_000));
    fleet.bus.run(MINUTE);
    fleet.alive.clear();
    fleet.bus.run(12 * MINUTE);
    expect(fleet.presences()).toEqual({ LIVE: 1_000 });
    const alarms = fleet.registrars.map((each) =>
      each.metric("ringwall_mass_expiry", { stage: "expired" }),
    );
    expect(Math.max(...alarms)).toBe(1);
    expect(fleet.registrars.every((each) => each.readiness.ready)).toBe(true);
    const { api } = fleet.bus.names;
    const report = fleet.call(api("lease", "get"), LEASES, {});
    expect(report.frozen.map((each) => each.held)).toEqual([1_000, 1_000]);
    const lifted = fleet.call(api("lease", "lift"), LIFT, { reason: "they are gone" });
    expect(lifted.lifted).toBe(1_000);
    fleet.bus.run(30 * SECOND);
    expect(fleet.presences()).toEqual({ EXPIRED: 1_000 });
  });

  it("expire the 2 % that were cut off after their grace, and only them", () => {
    const fleet = new SimulatedFleet(2, 2);
    fleet.register(ids(1_000));
    fleet.bus.run(MINUTE);
    const cut = ids(1_000).filter((_, index) => index % 50 === 0);
    for (const id of cut) {
      fleet.alive.delete(id);
    }
    fleet.bus.run(9 * MINUTE);
    expect(fleet.presences()).toEqual({ LIVE: 980, STALE: 20 });
    fleet.bus.run(2 * MINUTE);
    expect(fleet.expired()).toEqual(cut);
    fleet.alive = new Set(ids(1_000));
    fleet.bus.run(15 * SECOND);
    expect(fleet.presences()).toEqual({ LIVE: 1_000 });
  });

  it("expire nobody wrongly when one is frozen for ten minutes, alone or beside another", () => {
    for (const registrars of [1, 2]) {
      const fleet = new SimulatedFleet(3, registrars);
      fleet.register(ids(200));
      fleet.bus.run(MINUTE);
      fleet.registrars[0]?.freeze();
      fleet.bus.run(10 * MINUTE);
      fleet.registrars[0]?.thaw();
      fleet.bus.run(2 * MINUTE);
      expect(fleet.presences()).toEqual({ LIVE: 200 });
    }
  });

  it("expire nobody wrongly over take-overs, clock jumps and lost connections", () => {
    const fleet = new SimulatedFleet(4, 2);
    fleet.register(ids(200));
    for (let round = 0; round < 20; round += 1) {
      const registrar = fleet.registrars[round % 2];
      fleet.bus.run(MINUTE);
      if (round % 3 === 0) {
        registrar?.crash();
        fleet.bus.run(10 * SECOND);
        registrar?.start();
      } else if (round % 3 === 1) {
        registrar?.disconnect();
        fleet.bus.run(2 * MINUTE);
        registrar?.reconnect();
      } else if (registrar !== undefined) {
        registrar.clockSkewMs += (round % 2 === 0 ? 1 : -1) * 400 * 24 * 60 * MINUTE;
      }
    }
    expect(fleet.presences()).toEqual({ LIVE: 200 });
    expect(fleet.bus.stream("REGISTRY").lastSequence).toBeLessThan(200 + 20 * 3 * 64);
  });

  it("keep what they acknowledged, whatever is lost, late or killed", () => {
    for (let seed = 100; seed < 115; seed += 1) {
      keepsAcknowledged(seed);
    }
  });

  it("begin anew when REGISTRY was emptied, and say so", () => {
    const fleet = new SimulatedFleet(5, 2);
    fleet.register(ids(20));
    fleet.bus.wipe(["REGISTRY"]);
    fleet.bus.run(10 * SECOND);
    const listed = fleet.call(fleet.bus.names.api("workload", "list"), LIST, {});
    expect(listed.workloads).toEqual([]);
    const lines = fleet.registrars.flatMap((each) => each.logs.map((line) => line.message));
    expect(lines.some((line) => line.includes("created anew or went back"))).toBe(true);
    fleet.register(ids(3));
    const again = fleet.call(fleet.bus.names.api("workload", "list"), LIST, {});
    expect(again.workloads.map((record) => record.id)).toEqual(ids(3));
  });

  it("answer at a revision only once they have read it", () => {
    const fleet = new SimulatedFleet(6, 3, { delay: 0.5, delayMs: 400 });
    for (let round = 0; round < 30; round += 1) {
      const request = { id: "a", source: WorkloadSource.OPERATOR, labels: { v: `${round}` } };
      const subject = fleet.bus.names.api("workload", "report", partitionOf("a"));
      const { revision } = fleet.call(subject, REPORT, request);
      const listed = fleet.call(fleet.bus.names.api("workload", "list"), LIST, {
        atLeastRevision: revision,
      });
      expect(listed.revision).toBeGreaterThanOrEqual(revision);
      expect(listed.workloads[0]?.labels).toEqual({ v: `${round}` });
    }
  });
});

/** Writes under faults; once they stop, the registry holds the last acknowledged or a later wish. */
function keepsAcknowledged(seed: number): void {
  const faults = {
    lose: 0.02,
    reorder: 0.02,
    delay: 0.1,
    delayMs: 300,
    loseAppend: 0.02,
    loseAck: 0.05,
    staleRead: 0.05,
    crash: 0.0005,
    restartMs: 3_000,
  };
  const fleet = new SimulatedFleet(seed, 3, faults);
  const wishes = new Map<string, (string | undefined)[]>();
  const acknowledged = new Map<string, number>();
  for (let round = 0; round < 60; round += 1) {
    const id = `w-${Math.floor(fleet.bus.random() * 6)}`;
    const app = fleet.bus.random() < 0.2 ? undefined : `v${round}`;
    const all = wishes.get(id) ?? [];
    wishes.set(id, [...all, app]);
    const verb = app === undefined ? "deregister" : "report";
    const subject = fleet.bus.names.api("workload", verb, partitionOf(id));
    const request = { id, source: WorkloadSource.OPERATOR, labels: { app: app ?? "" } };
    const error =
      app === undefined
        ? fleet.call(subject, DEREGISTER, { id }).error
        : fleet.call(subject, REPORT, request).error;
    if (error === undefined) {
      acknowledged.set(id, all.length);
    }
  }
  fleet.bus.setFaults({});
  fleet.bus.run(30 * SECOND);
  for (const registrar of fleet.registrars) {
    registrar.start();
  }
  fleet.bus.run(30 * SECOND);
  const listed = fleet.call(fleet.bus.names.api("workload", "list"), LIST, {});
  const labels = new Map(listed.workloads.map((record) => [record.id, record.labels.app]));
  for (const [id, index] of acknowledged) {
    const allowed = (wishes.get(id) ?? []).slice(index);
    expect(allowed, `${id} (seed ${seed})`).toContain(labels.get(id));
  }
  expect(listed.workloads.every((record) => record.presence === Presence.LIVE)).toBe(true);
}
