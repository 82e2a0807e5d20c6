import { create } from "@bufbuild/protobuf";
import { STREAMS, type StreamName } from "@ringwall/bus";
import type { Faults, StreamCopy } from "@ringwall/testkit";
import { InventoryReportSchema } from "@ringwall/wire";
import type { Action } from "../schedule/move.ts";
import type { Member, World } from "./world.ts";

/** Lets the actions of a schedule happen in a world, and ends what lasts only a while. */
export class Performer {
  readonly #world: World;
  #noises: Partial<Faults>[] = [];
  readonly #crashes = new Map<string, { left: number; readonly downMs: number }>();
  /** Grows when faults stop: what was to end later has ended then. */
  #round = 0;

  constructor(world: World) {
    this.#world = world;
    world.bus.onStep((actor) => this.#countDown(actor.name));
  }

  perform(action: Action): void {
    const { bus } = this.#world;
    switch (action.kind) {
      case "commit":
        this.#world.commit(action.operator, action.files);
        break;
      case "commit-bad":
        this.#world.wish(action.operator, { kind: "files", files: [action.file] });
        break;
      case "declare":
      case "deregister":
        this.#world.declare(action);
        break;
      case "accept":
        this.#world.wish(0, { kind: "accept", commits: () => this.#world.checker.config.commits });
        break;
      case "server":
        bus.restartServer(action.downMs);
        break;
      case "backup":
        this.#world.backup = bus.backup();
        break;
      case "restore":
        this.#restore(action.streams, action.downMs);
        break;
      case "wipe":
        this.#lose(action.streams);
        bus.wipe(action.streams, action.downMs);
        this.#world.checker.regressed(action.streams);
        break;
      case "undo-loss":
        this.#undoLoss();
        break;
      case "noise":
        this.#noise(action.faults, action.forMs);
        break;
      case "nothing":
        break;
      default:
        this.#performOnOne(action);
    }
  }

  /** Ends every fault: all run, nothing is lost any more. */
  stopFaults(): void {
    const { bus, denied, members } = this.#world;
    this.#round += 1;
    this.#noises = [];
    this.#crashes.clear();
    bus.setFaults({});
    for (const filters of denied.values()) {
      filters.length = 0;
    }
    for (const actor of bus.actors.values()) {
      actor.start();
      actor.thaw();
      actor.reconnect();
    }
    for (const member of members.values()) {
      member.tampering = undefined;
      member.host.writable = true;
      member.host.applyMs = 0;
    }
  }

  #performOnOne(action: Extract<Action, { actor: string } | { workload: string }>): void {
    switch (action.kind) {
      case "replace": {
        const actor = this.#world.actor(action.actor);
        actor.stop();
        // It takes up to five seconds to stop in order.
        this.#later(5000 + action.downMs, () => actor.start());
        break;
      }
      case "crash":
        this.#crashes.set(action.actor, { left: action.afterMessages, downMs: action.downMs });
        break;
      case "freeze": {
        const actor = this.#world.actor(action.actor);
        actor.freeze();
        this.#later(action.forMs, () => actor.thaw());
        break;
      }
      case "cut": {
        const actor = this.#world.actor(action.actor);
        actor.disconnect();
        this.#later(action.forMs, () => actor.reconnect());
        break;
      }
      case "skew":
        this.#world.actor(action.actor).clockSkewMs = action.byMs;
        break;
      case "deny": {
        const denied = this.#world.deniedTo(action.actor);
        denied.push(action.filter);
        this.#later(action.forMs, () => {
          const at = denied.indexOf(action.filter);
          denied.splice(at, at < 0 ? 0 : 1);
        });
        break;
      }
      case "deregister":
        break;
      default:
        this.#performOnHost(action, this.#world.member(action.workload));
    }
  }

  #performOnHost(
    action: Exclude<
      Extract<Action, { workload: string }>,
      { kind: "deregister" } | { actor: string }
    >,
    member: Member,
  ): void {
    const { host, actor } = member;
    switch (action.kind) {
      case "inventory": {
        const { addresses, services, annotations } = action.inventory;
        const report = create(InventoryReportSchema, {
          addresses: [...addresses],
          services: [...services],
          annotations: { ...annotations },
        });
        this.#world.report(member, report);
        break;
      }
      case "agent-away":
        actor.stop();
        this.#later(5000 + action.forMs, () => actor.start());
        break;
      case "slow":
        host.applyMs = action.applyMs;
        break;
      case "refuse":
        host.refuseNext();
        break;
      case "unwritable":
        host.writable = false;
        this.#later(action.forMs, () => {
          host.writable = true;
        });
        break;
      case "reboot":
        actor.crash();
        host.reboot();
        this.#later(action.downMs, () => actor.start());
        break;
      case "old-image":
        actor.crash();
        host.oldImage(() => this.#world.bus.random());
        this.#world.checker.hosts.forget(host);
        this.#later(1000, () => actor.start());
        break;
      case "tamper":
        member.tampering = action.how;
        this.#later(action.forMs, () => {
          member.tampering = undefined;
        });
        break;
    }
  }

  #noise(faults: Partial<Faults>, forMs: number): void {
    this.#noises.push(faults);
    this.#applyNoise();
    this.#later(forMs, () => {
      this.#noises = this.#noises.filter((each) => each !== faults);
      this.#applyNoise();
    });
  }

  #applyNoise(): void {
    const sum: Record<string, number> = {};
    for (const noise of this.#noises) {
      for (const [key, value] of Object.entries(noise)) {
        sum[key] = Math.max(sum[key] ?? 0, value);
      }
    }
    this.#world.bus.setFaults(sum);
  }

  #restore(streams: readonly StreamName[], downMs: number): void {
    const { bus, backup, checker } = this.#world;
    if (backup === undefined) {
      return;
    }
    const copies = new Map(onDisk(backup).filter(([name]) => streams.includes(name)));
    this.#lose(streams);
    bus.restore(copies, downMs);
    checker.regressed(streams);
  }

  #lose(streams: readonly StreamName[]): void {
    const { bus } = this.#world;
    this.#world.beforeLoss ??= bus.backup();
    if (streams.includes("CONFIG") || streams.includes("REGISTRY")) {
      this.#world.mayBeHeld = true;
    }
  }

  #undoLoss(): void {
    const { bus, beforeLoss, checker } = this.#world;
    if (beforeLoss !== undefined) {
      this.#world.beforeLoss = undefined;
      // What was written since the loss is lost in turn.
      this.#world.mayBeHeld = true;
      const copies = new Map<StreamName, StreamCopy>(onDisk(beforeLoss));
      bus.restore(copies, 50);
      checker.regressed(STREAMS);
    }
  }

  #countDown(name: string): void {
    const crash = this.#crashes.get(name);
    if (crash === undefined) {
      return;
    }
    crash.left -= 1;
    if (crash.left < 0) {
      this.#crashes.delete(name);
      const actor = this.#world.actor(name);
      actor.crash();
      this.#later(crash.downMs, () => actor.start());
    }
  }

  #later(delayMs: number, call: () => void): void {
    const round = this.#round;
    this.#world.bus.after(delayMs, () => {
      if (round === this.#round) {
        call();
      }
    });
  }
}

/** Streams in memory are in no backup; the restart empties them. */
function onDisk(copies: ReadonlyMap<StreamName, StreamCopy>): [StreamName, StreamCopy][] {
  return [...copies].filter(([name]) => name !== "OWNERS" && name !== "STATUS");
}
