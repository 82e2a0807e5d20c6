import type { Effect, Message, Moment, StoredRecord } from "@ringwall/actor";
import { HEADER } from "./driver/headers.ts";
import type { Names } from "./names.ts";
import { RENEW, SlotLease } from "./slot-lease.ts";

/** How often an instance renews its key. */
export const RENEW_MS = 2000;
/** An instance whose key has not moved for this long loses its slots. */
export const LEASE_MS = 6000;
/** An instance that was silent for this long is not remembered. */
const FORGET_MS = 60_000;
const LOOK_MS = 500;
/** A pause between two looks that shows that this process itself was frozen. */
const FROZEN_MS = 2000;
const FOLLOW_AGAIN_MS = 200;
/** A record that overtook a claim and is not seen for this long is not there to be seen. */
const BLIND_MS = 5000;
const READER = "slots";

/** What an instance's slots are made of. */
export interface SlotsParts {
  readonly names: Names;
  /** Id of this instance. */
  readonly instance: string;
  /** Service whose instances share the slots. */
  readonly service: string;
  /** Every slot there is, for example `renderer.0` … `renderer.63`; the same in each instance. */
  readonly slots: readonly string[];
}

interface Slot {
  readonly sequence: number;
  readonly owner: string;
}

/**
 * Ownership by leases in OWNERS, as a reducer within a reducer: give `step` every message first and
 * put its effects in front of your own. It reacts only to its own tags, the reader `slots` and
 * timers `slots.*`. Each instance renews one key; a slot's key names its owner and changes by
 * compare-and-set. Live instances hold at most ceil(slots / live instances) each and take what is
 * free; whoever stops gives all up at once. Ownership saves work and nothing else: two instances may
 * believe for a moment that they own a slot, and the fences of what they write decide.
 */
export class Slots {
  readonly #parts: SlotsParts;
  readonly #keyPrefix: string;
  readonly #instancePrefix: string;
  readonly #known: ReadonlySet<string>;
  readonly #lease: SlotLease;
  /** Other instances: when their key moved last, by this instance's monotonic clock. */
  readonly #others = new Map<string, number>();
  readonly #slots = new Map<string, Slot>();
  readonly #owned = new Set<string>();
  readonly #pending = new Map<string, "claim" | "release">();
  /** Slots whose claim was overtaken by a record that was not seen yet, since when. */
  readonly #blind = new Map<string, number>();
  readonly #gained = new Set<string>();
  readonly #lost = new Set<string>();
  #phase: "waiting" | "sharing" | "stopped" = "waiting";
  #following = false;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #writes = 0;

  constructor(parts: SlotsParts) {
    this.#parts = parts;
    this.#keyPrefix = parts.names.owner("");
    this.#instancePrefix = `instance.${parts.service}.`;
    this.#known = new Set(parts.slots);
    const key = parts.names.owner(this.#instancePrefix + parts.instance);
    this.#lease = new SlotLease(key, parts.instance, () => this.#nextWrite());
  }

  /** The slots that this instance owns. */
  get owned(): ReadonlySet<string> {
    return this.#owned;
  }

  /**
   * What was lost and gained since the last call. A slot in both was lost first: drop its state, then
   * begin anew.
   */
  takeChanges(): { gained: string[]; lost: string[] } {
    const changes = { gained: [...this.#gained], lost: [...this.#lost] };
    this.#gained.clear();
    this.#lost.clear();
    return changes;
  }

  /** Takes one message and returns the effects of it. */
  step(message: Message, moment: Moment): Effect[] {
    const now = moment.monotonicMs;
    switch (message.kind) {
      case "start":
        return [
          ...this.#renew(),
          { kind: "timer", id: "slots.look", delayMs: LOOK_MS },
          { kind: "timer", id: RENEW, delayMs: RENEW_MS },
        ];
      case "stop":
        return this.#stop();
      case "reconnected":
        return this.#renew();
      case "timer":
        return this.#timer(message.id, now);
      case "record":
        return message.reader === READER ? this.#record(message.record, now) : [];
      case "caught-up":
        if (message.reader !== READER || this.#phase === "stopped") {
          return [];
        }
        this.#phase = "sharing";
        return this.#share(now);
      case "reader-lost":
        return message.reader === READER ? this.#readerLost() : [];
      case "appended":
        return this.#appended(message.tag, message.sequence, now);
      case "failed":
        return this.#failed(message, now);
      default:
        return [];
    }
  }

  /** Reads OWNERS. It begins after a renewal, so that no loss in between stays unknown. */
  #follow(): Effect {
    this.#following = true;
    const filters = new Set(
      this.#parts.slots.map((slot) => {
        const [first, ...rest] = slot.split(".");
        return this.#parts.names.owner(rest.length === 0 ? slot : `${first}.*`);
      }),
    );
    filters.add(this.#parts.names.owner(`${this.#instancePrefix}*`));
    const from = "last-per-subject";
    return { kind: "follow", reader: READER, stream: "OWNERS", filters: [...filters], from };
  }

  #renew(): Effect[] {
    return this.#phase === "stopped" ? [] : this.#lease.renew();
  }

  #timer(id: string, now: number): Effect[] {
    switch (id) {
      case RENEW:
        return [{ kind: "timer", id, delayMs: RENEW_MS }, ...this.#renew()];
      case "slots.look":
        return [{ kind: "timer", id, delayMs: LOOK_MS }, ...this.#look(now)];
      case "slots.follow":
        return this.#renew();
      default:
        return [];
    }
  }

  #look(now: number): Effect[] {
    if (now - this.#lookedMs > FROZEN_MS) {
      // Nobody was watched meanwhile, so nobody's silence counts.
      for (const other of this.#others.keys()) {
        this.#others.set(other, now);
      }
    }
    this.#lookedMs = now;
    for (const [other, movedMs] of this.#others) {
      if (now - movedMs > FORGET_MS) {
        this.#others.delete(other);
      }
    }
    if (this.#owned.size > 0 && !this.#lease.isFresh(now)) {
      const effects = [...this.#owned].flatMap((slot) => this.#lose(slot));
      return [...effects, log("warn", "slots given up: the lease could not be renewed")];
    }
    return this.#share(now);
  }

  #record(record: StoredRecord, now: number): Effect[] {
    const key = record.subject.slice(this.#keyPrefix.length);
    if (key.startsWith(this.#instancePrefix)) {
      const id = key.slice(this.#instancePrefix.length);
      if (id !== this.#parts.instance) {
        if (record.headers[HEADER.kvOperation] === undefined) {
          this.#others.set(id, now);
        } else {
          this.#others.delete(id);
        }
      }
      return this.#share(now);
    }
    if (!this.#known.has(key) || record.sequence <= (this.#slots.get(key)?.sequence ?? 0)) {
      return [];
    }
    const owner = new TextDecoder().decode(record.payload);
    this.#slots.set(key, { sequence: record.sequence, owner });
    this.#blind.delete(key);
    const lost = owner === this.#parts.instance ? [] : this.#lose(key);
    return [...lost, ...this.#share(now)];
  }

  #readerLost(): Effect[] {
    this.#following = false;
    this.#lease.forgetPlace();
    const effects = [...this.#owned].flatMap((slot) => this.#lose(slot));
    this.#slots.clear();
    this.#blind.clear();
    this.#others.clear();
    if (this.#phase !== "stopped") {
      this.#phase = "waiting";
      effects.push({ kind: "timer", id: "slots.follow", delayMs: FOLLOW_AGAIN_MS });
    }
    return effects;
  }

  #appended(tag: string, sequence: number, now: number): Effect[] {
    if (tag === RENEW) {
      this.#lease.renewed(sequence, now);
      return this.#following || this.#phase === "stopped" ? this.#share(now) : [this.#follow()];
    }
    const slot = slotOf(tag);
    const pending = slot === undefined ? undefined : this.#pending.get(slot);
    if (slot === undefined || pending === undefined) {
      return [];
    }
    this.#pending.delete(slot);
    if (sequence <= (this.#slots.get(slot)?.sequence ?? 0)) {
      // Someone else's later write was seen first, or the own one; either has been judged.
      const mine = this.#slots.get(slot);
      return pending === "claim" && mine?.sequence === sequence ? this.#gain(slot) : [];
    }
    const owner = pending === "claim" ? this.#parts.instance : "";
    this.#slots.set(slot, { sequence, owner });
    return pending === "claim" ? this.#gain(slot) : [];
  }

  #failed({ tag, code, detail }: Extract<Message, { kind: "failed" }>, now: number): Effect[] {
    if (tag === RENEW) {
      this.#lease.failed();
      return code === "fence-lost" && this.#phase !== "stopped" ? this.#readAnew() : [];
    }
    if (tag === READER) {
      this.#following = false;
      this.#phase = this.#phase === "stopped" ? "stopped" : "waiting";
      return [
        log("error", `OWNERS can't be followed: ${detail}`),
        { kind: "timer", id: "slots.follow", delayMs: LEASE_MS },
      ];
    }
    const slot = slotOf(tag);
    if (slot === undefined) {
      return [];
    }
    this.#pending.delete(slot);
    return code === "fence-lost" ? this.#overtaken(slot, now) : [];
  }

  /**
   * Someone else wrote first. The next attempt waits for a record or a look: trying again at once would
   * only be refused until the reader has come up. If it never does, what was read is not what is stored.
   */
  #overtaken(slot: string, now: number): Effect[] {
    const sinceMs = this.#blind.get(slot) ?? now;
    this.#blind.set(slot, sinceMs);
    if (now - sinceMs < BLIND_MS) {
      return [];
    }
    return this.#readAnew();
  }

  #readAnew(): Effect[] {
    const unfollow: Effect = { kind: "unfollow", reader: READER };
    return [
      log("warn", "OWNERS is not what was read"),
      ...(this.#following ? [unfollow] : []),
      ...this.#readerLost(),
    ];
  }

  #stop(): Effect[] {
    const owned = [...this.#owned];
    const effects = owned.flatMap((slot) => [...this.#lose(slot), ...this.#write(slot, "release")]);
    this.#phase = "stopped";
    return [...effects, ...this.#lease.end()];
  }

  /** Gives up what is above the share, takes what is free below it. */
  #share(now: number): Effect[] {
    // Without a fresh lease of its own an instance takes nothing.
    if (this.#phase !== "sharing" || !this.#lease.isFresh(now)) {
      return [];
    }
    const live = [...this.#others].flatMap(([id, movedMs]) =>
      now - movedMs <= LEASE_MS ? [id] : [],
    );
    live.push(this.#parts.instance);
    live.sort();
    const quota = Math.ceil(this.#parts.slots.length / live.length);
    const excess = [...this.#owned].slice(quota);
    if (excess.length > 0) {
      return excess.flatMap((slot) => [...this.#lose(slot), ...this.#write(slot, "release")]);
    }
    // Its own by the record but not by its memory, for example after a claim whose answer was lost.
    const strays = this.#parts.slots.filter(
      (slot) =>
        this.#slots.get(slot)?.owner === this.#parts.instance &&
        !this.#owned.has(slot) &&
        !this.#pending.has(slot),
    );
    const claims = [...this.#pending.values()].filter((each) => each === "claim").length;
    const room = Math.max(0, quota - this.#owned.size - claims);
    return [
      ...strays.slice(room).flatMap((slot) => this.#write(slot, "release")),
      ...[...strays.slice(0, room), ...this.#free(live)]
        .slice(0, room)
        .flatMap((slot) => this.#write(slot, "claim")),
    ];
  }

  /** Slots without a live owner; those of this instance's rank first, so that few claims collide. */
  #free(live: readonly string[]): string[] {
    const rank = live.indexOf(this.#parts.instance);
    const free = this.#parts.slots.filter((slot) => {
      const owner = this.#slots.get(slot)?.owner ?? "";
      return (
        !this.#owned.has(slot) &&
        !this.#pending.has(slot) &&
        (owner === "" || !live.includes(owner))
      );
    });
    const own = (slot: string) => this.#parts.slots.indexOf(slot) % live.length === rank;
    return [...free.filter(own), ...free.filter((slot) => !own(slot))];
  }

  #write(slot: string, what: "claim" | "release"): Effect[] {
    const { names, instance } = this.#parts;
    this.#pending.set(slot, what);
    return fork({
      kind: "append",
      tag: `slots.slot.${slot}`,
      stream: "OWNERS",
      subject: names.owner(slot),
      payload: new TextEncoder().encode(what === "claim" ? instance : ""),
      expect: { sequence: this.#slots.get(slot)?.sequence ?? 0 },
      write: this.#nextWrite(),
    });
  }

  #nextWrite(): string {
    this.#writes += 1;
    return `${this.#parts.instance}:slots:${this.#writes}`;
  }

  #gain(slot: string): Effect[] {
    if (this.#phase !== "sharing") {
      // Won too late, for example after `stop`: give it back.
      return this.#write(slot, "release");
    }
    this.#owned.add(slot);
    this.#gained.add(slot);
    return [this.#gauge()];
  }

  #lose(slot: string): Effect[] {
    if (!this.#owned.delete(slot)) {
      return [];
    }
    this.#gained.delete(slot);
    this.#lost.add(slot);
    return [this.#gauge()];
  }

  #gauge(): Effect {
    return { kind: "gauge", name: "ringwall_slots_owned", value: this.#owned.size };
  }
}

function slotOf(tag: string): string | undefined {
  return tag.startsWith("slots.slot.") ? tag.slice("slots.slot.".length) : undefined;
}

function fork(effect: Effect): Effect[] {
  return [{ kind: "fork", effects: [effect] }];
}

function log(level: "warn" | "error", message: string): Effect {
  return { kind: "log", level, message };
}
