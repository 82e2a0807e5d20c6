import { create, fromBinary } from "@bufbuild/protobuf";
import type { Names } from "@ringwall/bus";
import {
  type GetLeasesResponse,
  GetLeasesResponseSchema,
  type LeaseBatch,
  LeaseBatchSchema,
  LeaseFreezeSchema,
  Presence,
  type WorkloadRecord,
  WorkloadSource,
} from "@ringwall/wire";
import type { Outbox } from "../outbox.ts";
import type { Registry, RegistryChange } from "../registry.ts";
import { LeaseClock, TICK_MS } from "./lease-clock.ts";
import { type LeaseStage, LeaseTable } from "./lease-table.ts";
import { MassGuard, WINDOW_MS } from "./mass-guard.ts";
import { PresenceMarks } from "./presence-marks.ts";

/** Timer of the looks at the leases. */
export const LEASE_TIMER = "leases.tick";

/** Ids of held workloads that an answer names. */
const HELD_NAMED = 100;

/** Settings of the leases. */
export interface LeaseSettings {
  readonly names: Names;
  readonly registry: Registry;
  readonly out: Outbox;
  readonly staleAfterMs: number;
  readonly expireAfterMs: number;
}

type Lapse = "stale" | "expired";
const LAPSES: readonly Lapse[] = ["stale", "expired"];

/**
 * Leases of all workloads that agents send heartbeats for, in the memory of one registrar. Silence makes a
 * workload stale, then expired; a mass of silent workloads is taken for a fault of the control
 * plane or the network and freezes both.
 */
export class LeaseKeeper {
  readonly #settings: LeaseSettings;
  readonly #table = new LeaseTable();
  readonly #guards: Record<Lapse, MassGuard> = { stale: new MassGuard(), expired: new MassGuard() };
  readonly #marks: PresenceMarks;
  #clock: LeaseClock | undefined;
  #nowMs = 0;

  constructor(settings: LeaseSettings) {
    this.#settings = settings;
    this.#marks = new PresenceMarks(settings.names, settings.registry, (id) =>
      this.#table.stage(id),
    );
  }

  get owned(): boolean {
    return this.#clock !== undefined;
  }

  /** Takes the leases over: everybody gets a full one, whatever was heard before. */
  gain(nowMs: number): void {
    if (this.#clock !== undefined) {
      return;
    }
    this.#nowMs = nowMs;
    this.#clock = new LeaseClock(nowMs);
    for (const { record } of this.#settings.registry.workloads()) {
      if (record.leased) {
        this.#table.grant(record.id, stageOf(record), nowMs);
      }
    }
    this.#settings.out.push({ kind: "timer", id: LEASE_TIMER, delayMs: TICK_MS });
  }

  lose(): void {
    this.#clock = undefined;
    this.#table.clear();
    this.#marks.clear();
    for (const stage of LAPSES) {
      this.#guards[stage].reset();
      this.#alarm(stage, 0);
    }
    this.#settings.out.push({ kind: "cancel-timer", id: LEASE_TIMER });
  }

  /** Something came from the bus. */
  evidence(nowMs: number): void {
    this.#clock?.evidence(nowMs);
  }

  /** A record was folded. */
  changed({ id, before, after }: RegistryChange, nowMs: number): void {
    if (this.#clock === undefined) {
      return;
    }
    if (after === undefined || after.record.source === WorkloadSource.KUBERNETES) {
      this.#table.drop(id);
    } else if (this.#table.stage(id) === undefined) {
      if (after.record.leased) {
        this.#table.grant(id, stageOf(after.record), nowMs);
      }
    } else if (before !== undefined && isBack(before.record, after.record)) {
      this.#table.hear(id, nowMs);
    }
    this.#marks.check(id);
  }

  /** Takes the heartbeats that a gateway heard; false if the payload is none. */
  heard(payload: Uint8Array, nowMs: number): boolean {
    const batch = readBatch(payload);
    if (batch === undefined) {
      return false;
    }
    for (const id of batch.workloads) {
      const before = this.#table.stage(id);
      if (before !== undefined) {
        this.#table.hear(id, nowMs);
      } else {
        this.#begin(id, nowMs);
      }
      if (before !== "live") {
        this.#marks.check(id);
      }
    }
    return true;
  }

  /** Looks at the leases. */
  tick(nowMs: number): void {
    if (this.#clock === undefined) {
      return;
    }
    this.#nowMs = nowMs;
    const { out } = this.#settings;
    out.push({ kind: "timer", id: LEASE_TIMER, delayMs: TICK_MS });
    const judgement = this.#clock.tick(nowMs);
    if (judgement.kind === "blind") {
      return;
    }
    if (judgement.kind === "regrant") {
      const labels = { reason: judgement.reason };
      out.push({ kind: "count", name: "ringwall_registrar_lease_regrants_total", labels });
      this.#table.forgive(nowMs, 0);
    }
    this.#lapse("stale", this.#settings.staleAfterMs);
    this.#lapse("expired", this.#settings.expireAfterMs);
    this.#marks.send(out);
    for (const stage of ["live", "stale", "expired"] as const) {
      const value = this.#table.count(stage);
      out.push({ kind: "gauge", name: "ringwall_registrar_leases", value, labels: { stage } });
    }
    for (const stage of LAPSES) {
      this.#alarm(stage, this.#guards[stage].frozen ? 1 : 0);
    }
  }

  /** A partition's owner answered the marks, or did not. */
  answered(partition: number): void {
    this.#marks.answered(partition);
  }

  /**
   * An operator's word that the silent workloads are gone: they expire now. Returns how many;
   * undefined if nothing is frozen.
   */
  lift(reason: string, nowMs: number): number | undefined {
    if (!LAPSES.some((stage) => this.#guards[stage].frozen)) {
      return undefined;
    }
    const silenceMs = this.#settings.staleAfterMs - nearOf(this.#settings.staleAfterMs);
    const gone = [...this.#table.silent(nowMs, silenceMs)].map(([id]) => id);
    for (const id of gone) {
      this.#move(id, "expired");
    }
    const lifted = gone.length;
    this.#settings.out.push({
      kind: "log",
      level: "warn",
      message: "mass expiry lifted by an operator",
      fields: { lifted, reason },
    });
    return lifted;
  }

  /** How the leases stand. */
  report(nowMs: number, wallMs: number): GetLeasesResponse {
    return create(GetLeasesResponseSchema, {
      leased: this.#table.size,
      stale: this.#table.count("stale"),
      expired: this.#table.count("expired"),
      frozen: LAPSES.flatMap((stage) => {
        const sinceMs = this.#guards[stage].frozenSinceMs;
        if (sinceMs === undefined) {
          return [];
        }
        const held = this.#due(stage, nowMs);
        return create(LeaseFreezeSchema, {
          stage: stage === "stale" ? Presence.STALE : Presence.EXPIRED,
          sinceUnixMs: BigInt(Math.round(wallMs - (nowMs - sinceMs))),
          held: held.length,
          workloads: held.sort().slice(0, HELD_NAMED),
        });
      }),
    });
  }

  /** First heartbeat of a workload: from now on its silence counts. Adapters know better. */
  #begin(id: string, nowMs: number): void {
    const stored = this.#settings.registry.get(id);
    if (stored !== undefined && stored.record.source !== WorkloadSource.KUBERNETES) {
      this.#table.grant(id, "live", nowMs);
    }
  }

  #lapse(stage: Lapse, afterMs: number): void {
    const guard = this.#guards[stage];
    const due: string[] = [];
    let near = 0;
    for (const [id, lease] of this.#table.silent(this.#nowMs, afterMs - nearOf(afterMs))) {
      if (stage === "expired" || lease.stage === "live") {
        near += 1;
        if (this.#nowMs - lease.heardMs > afterMs) {
          due.push(id);
        }
      }
    }
    const live = this.#table.count("live");
    const population = stage === "stale" ? live : live + this.#table.count("stale");
    const change = guard.judge(this.#nowMs, { due: due.length, near, population });
    this.#announce(stage, change, due.length);
    if (change === "thawed" || LAPSES.some((each) => this.#guards[each].frozen)) {
      return;
    }
    guard.lapsed(this.#nowMs, due.length);
    for (const id of due) {
      this.#move(id, stage);
    }
  }

  #move(id: string, stage: Lapse): void {
    this.#table.lapse(id, stage);
    this.#marks.check(id);
    const labels = { stage };
    this.#settings.out.push({ kind: "count", name: "ringwall_registrar_lapses_total", labels });
  }

  #announce(stage: Lapse, change: "froze" | "thawed" | "same", held: number): void {
    if (change === "same") {
      return;
    }
    const froze = change === "froze";
    if (!froze) {
      // What is still silent has just been in a fault: it gets its time again.
      this.#table.forgive(this.#nowMs, stage === "stale" ? 0 : this.#settings.staleAfterMs);
    }
    this.#alarm(stage, froze ? 1 : 0);
    this.#settings.out.push({
      kind: "log",
      level: froze ? "error" : "info",
      message: froze
        ? "too many workloads fell silent at once: none is marked until they return or an operator lifts it"
        : "mass silence is over",
      fields: { stage, held },
    });
  }

  #alarm(stage: Lapse, value: number): void {
    const labels = { stage };
    this.#settings.out.push({ kind: "gauge", name: "ringwall_mass_expiry", value, labels });
  }

  #due(stage: Lapse, nowMs: number): string[] {
    const afterMs = stage === "stale" ? this.#settings.staleAfterMs : this.#settings.expireAfterMs;
    const silent = [...this.#table.silent(nowMs, afterMs)];
    return silent
      .filter(([, lease]) => stage === "expired" || lease.stage === "live")
      .map(([id]) => id);
  }
}

/** How long before its time a lapse counts as near: the window, or half of a short time. */
function nearOf(afterMs: number): number {
  return Math.min(WINDOW_MS, Math.floor(afterMs / 2));
}

function readBatch(payload: Uint8Array): LeaseBatch | undefined {
  try {
    return fromBinary(LeaseBatchSchema, payload);
  } catch {
    return undefined;
  }
}

function stageOf(record: WorkloadRecord): LeaseStage {
  switch (record.presence) {
    case Presence.STALE:
      return "stale";
    case Presence.EXPIRED:
      return "expired";
    default:
      return "live";
  }
}

/** True if a report brought a silent workload back: it is a sign of life too. */
function isBack(before: WorkloadRecord, after: WorkloadRecord): boolean {
  return stageOf(before) !== "live" && stageOf(after) === "live";
}
