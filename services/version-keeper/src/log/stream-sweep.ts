import {
  EffectFailed,
  type FollowEffect,
  type StoredRecord,
  signalled,
  type Task,
} from "@ringwall/actor";
import type { KeeperContext } from "../context.ts";

/** A sweep in which nothing arrives for this long is given up. */
const SILENT_MS = 30_000;

interface Sweep {
  readonly take: (record: StoredRecord) => void;
  state: "running" | "done" | "lost";
  heard: number;
}

/** Reads a stream once from end to end: what is stored when it starts. */
export class StreamSweep {
  readonly #context: KeeperContext;
  readonly #sweeps = new Map<string, Sweep>();
  #turn = 0;

  constructor(context: KeeperContext) {
    this.#context = context;
  }

  /** The last value of every page of STATUS. */
  status(take: (record: StoredRecord) => void): Task<void> {
    const filters = [this.#context.names.statusAll];
    return this.#run({ stream: "STATUS", filters, from: "last-per-subject" }, take);
  }

  /** The last batch of every partition of RENDERED. */
  rendered(take: (record: StoredRecord) => void): Task<void> {
    return this.#run({ stream: "RENDERED", filters: [], from: "last-per-subject" }, take);
  }

  /** Every record of VERSIONS. */
  versions(take: (record: StoredRecord) => void): Task<void> {
    return this.#run({ stream: "VERSIONS", filters: [], from: "all" }, take);
  }

  /** Headers of every object of CONTENT. */
  content(take: (record: StoredRecord) => void): Task<void> {
    return this.#run({ stream: "CONTENT", filters: [], from: "all", headersOnly: true }, take);
  }

  /** Takes a record if it is a sweep's. */
  take(reader: string, record: StoredRecord): boolean {
    const sweep = this.#sweeps.get(reader);
    if (sweep === undefined) {
      return reader.startsWith("sweep.");
    }
    sweep.heard += 1;
    sweep.take(record);
    return true;
  }

  /** Notes that a sweep has seen everything. */
  caughtUp(reader: string): void {
    this.#end(reader, "done");
  }

  /** Notes that a sweep's stream is another one. */
  readerLost(reader: string): void {
    this.#end(reader, "lost");
  }

  #end(reader: string, state: Sweep["state"]): void {
    const sweep = this.#sweeps.get(reader);
    if (sweep !== undefined) {
      sweep.state = state;
      this.#context.tasks.signal(reader);
    }
  }

  *#run(
    what: Omit<FollowEffect, "kind" | "reader">,
    take: (record: StoredRecord) => void,
  ): Task<void> {
    this.#turn += 1;
    const reader = `sweep.${this.#turn}`;
    const sweep: Sweep = { take, state: "running", heard: 0 };
    this.#sweeps.set(reader, sweep);
    this.#context.outbox.add({ kind: "follow", reader, ...what });
    try {
      while (sweep.state === "running") {
        const { heard } = sweep;
        const woken = yield* signalled(reader, SILENT_MS);
        if (!woken && sweep.heard === heard) {
          throw new EffectFailed("follow", "timeout", `${what.stream} gave nothing`);
        }
      }
    } finally {
      this.#sweeps.delete(reader);
      this.#context.outbox.add({ kind: "unfollow", reader });
    }
    if (sweep.state === "lost") {
      throw new EffectFailed("follow", "unavailable", `${what.stream} is another stream now`);
    }
  }
}
