import type { FollowEffect, Message } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import type { Ground } from "./ground/ground.ts";
import type { Outbox } from "./outbox.ts";
import type { Checkpoints } from "./versions/checkpoints.ts";
import type { Partition } from "./versions/partition.ts";

/** What a reader follows. */
type Followed = Omit<FollowEffect, "kind" | "reader">;

/** Logs that are followed from the start on, or from when VERSIONS is loaded, and never given up. */
const FOLLOWED = {
  config: () => ({ stream: "CONFIG", filters: [], from: "all" }),
  registry: ({ registryAll }) => ({
    stream: "REGISTRY",
    filters: [registryAll],
    from: "last-per-subject",
    headersOnly: true,
  }),
  "registry-owners": ({ registryOwners }) => ({
    stream: "REGISTRY",
    filters: [registryOwners],
    from: "last-per-subject",
  }),
  status: ({ statusAll }) => ({
    stream: "STATUS",
    filters: [statusAll],
    from: "last-per-subject",
  }),
  content: () => ({ stream: "CONTENT", filters: [], from: "new" }),
  "checkpoints-config": ({ checkpoint }) => ({
    stream: "CHECKPOINTS",
    filters: [checkpoint("config", 0, "a", 0), checkpoint("config", 0, "b", 0)],
    from: "last-per-subject",
  }),
  // Not from now on: what was read is what shows that a store which grew is another one.
  "checkpoints-watch": () => ({
    stream: "CHECKPOINTS",
    filters: [],
    from: "last-per-subject",
    headersOnly: true,
  }),
} satisfies Readonly<Record<string, (names: Names) => Followed>>;

type FollowedName = keyof typeof FOLLOWED;

/**
 * Logs that a gateway reads. CHECKPOINTS is read once, before VERSIONS; from then on it is only
 * watched, by headers, so that its loss is noticed. Checkpoints of CONFIG, which are small, are read
 * all the time: they say which registry counts.
 */
export type ReaderName = FollowedName | "checkpoints" | "versions";

const NEEDED: readonly ReaderName[] = [
  "config",
  "registry",
  "registry-owners",
  "status",
  "versions",
];
/** Logs that are read from the start on, in this order. */
const READ_ALWAYS: readonly FollowedName[] = [
  "config",
  "registry",
  "registry-owners",
  "status",
  "content",
  "checkpoints-config",
];

const INFO_TAG = "loader:VERSIONS";
/** Asks once VERSIONS is read whether it is still the one that the checkpoints were held against. */
const CONFIRM_TAG = "loader:confirm";
const RETRY_TIMER = "loader:";
const RETRY_MS = 500;

/** What the loader works with. */
export interface LoaderParts {
  readonly names: Names;
  readonly out: Outbox;
  readonly ground: Ground;
  readonly checkpoints: Checkpoints;
  readonly partitions: readonly Partition[];
}

/**
 * Reads the logs: CONFIG, REGISTRY and STATUS whole, VERSIONS from the newest checkpoints on, and
 * whatever CONTENT is written from now on. A log that turns out to be another one is read again.
 */
export class Loader {
  readonly #parts: LoaderParts;
  readonly #caughtUp = new Set<ReaderName>();
  #info: { readonly createdNs: bigint; readonly lastSequence: number } | undefined;
  /** Creation time of the log that the partitions were read from; 0 before. */
  #createdNs = 0n;
  /** True from when checkpoints are asked for until partitions begin there, unless one is lost. */
  #restoring = false;
  /** True if VERSIONS has to be read from its beginning, whatever checkpoints cover. */
  #whole = false;

  constructor(parts: LoaderParts) {
    this.#parts = parts;
  }

  /** True if every log that delivery depends on has been read to its end. */
  get isDone(): boolean {
    return NEEDED.every((reader) => this.#caughtUp.has(reader));
  }

  /** Why it is not done; empty if it is. */
  get missing(): string {
    const missing = NEEDED.filter((reader) => !this.#caughtUp.has(reader));
    return missing.length === 0 ? "" : `reading ${missing.join(", ")}`;
  }

  /** Begins to read everything. */
  start(): void {
    for (const reader of READ_ALWAYS) {
      this.#follow(reader);
    }
    this.#loadVersions();
  }

  /** A reader has come to the end of its log. */
  caughtUp(reader: ReaderName): void {
    this.#caughtUp.add(reader);
    if (reader === "checkpoints") {
      this.#parts.out.fork({ kind: "unfollow", reader });
      this.#restore();
    } else if (reader === "versions") {
      this.#confirm();
    }
  }

  /** True if checkpoints that come now are newer than those that were read. */
  get watchesCheckpoints(): boolean {
    return this.isDone && this.#caughtUp.has("checkpoints-watch");
  }

  /** A log is another one or went back: it is read again after a moment. */
  lost(reader: ReaderName): void {
    this.#caughtUp.delete(reader);
    if (reader === "versions" || reader === "checkpoints") {
      this.#restoring = false;
    }
    // Checkpoints are read as the beginning of VERSIONS, and both once though both are lost.
    const id = `${RETRY_TIMER}${reader === "checkpoints" ? "versions" : reader}`;
    this.#parts.out.add({ kind: "timer", id, delayMs: RETRY_MS });
  }

  /** VERSIONS is not what its checkpoints cover: it is read from its beginning after a moment. */
  readWhole(): void {
    this.#whole = true;
    this.#parts.out.fork({ kind: "unfollow", reader: "versions" });
  }

  /** Takes a timer; false if it is not one of the loader's. */
  timer(id: string): boolean {
    if (!id.startsWith(RETRY_TIMER)) {
      return false;
    }
    const reader = id.slice(RETRY_TIMER.length);
    if (isFollowed(reader)) {
      this.#follow(reader);
    } else if (id === CONFIRM_TAG) {
      this.#confirm();
    } else {
      this.#loadVersions();
    }
    return true;
  }

  /** Takes the answer about VERSIONS; false if the message is another one. */
  answer(message: Extract<Message, { kind: "stream-info" }>): boolean {
    if (message.tag !== INFO_TAG) {
      return false;
    }
    this.#info = { createdNs: message.createdUnixNs, lastSequence: message.lastSequence };
    this.#restore();
    return true;
  }

  /** True if the answer says that VERSIONS was replaced or went back since the first answer. */
  isReplaced(message: Extract<Message, { kind: "stream-info" }>): boolean {
    const { tag, createdUnixNs, lastSequence } = message;
    const was = this.#info;
    return (
      tag === CONFIRM_TAG &&
      this.#caughtUp.has("versions") &&
      was !== undefined &&
      (createdUnixNs !== was.createdNs || lastSequence < was.lastSequence)
    );
  }

  /** Takes a failure; false if it is not one of the loader's. */
  failed(tag: string): boolean {
    if (tag === CONFIRM_TAG) {
      this.#parts.out.add({ kind: "timer", id: CONFIRM_TAG, delayMs: RETRY_MS });
      return true;
    }
    if (tag !== INFO_TAG) {
      return false;
    }
    this.lost("versions");
    return true;
  }

  #follow(reader: FollowedName): void {
    const { names, out } = this.#parts;
    out.fork({ kind: "follow", reader, ...FOLLOWED[reader](names) });
  }

  #confirm(): void {
    this.#parts.out.fork({ kind: "stream-info", tag: CONFIRM_TAG, stream: "VERSIONS" });
  }

  #loadVersions(): void {
    const { out, checkpoints } = this.#parts;
    this.#caughtUp.delete("checkpoints");
    this.#caughtUp.delete("versions");
    this.#caughtUp.delete("checkpoints-watch");
    this.#info = undefined;
    this.#restoring = true;
    checkpoints.clear();
    // Before they are read, so that no loss falls between the two.
    this.#follow("checkpoints-watch");
    out.fork({
      kind: "follow",
      reader: "checkpoints",
      stream: "CHECKPOINTS",
      filters: [],
      from: "last-per-subject",
    });
    out.fork({ kind: "stream-info", tag: INFO_TAG, stream: "VERSIONS" });
  }

  /** Both the checkpoints and what VERSIONS is are known: partitions begin there. */
  #restore(): void {
    const info = this.#info;
    if (!this.#restoring || info === undefined || !this.#caughtUp.has("checkpoints")) {
      return;
    }
    this.#restoring = false;
    const { partitions, checkpoints, ground, out } = this.#parts;
    const config = checkpoints.config;
    if (config?.inputs !== undefined) {
      ground.name("checkpoint", config.inputs, 0);
      ground.expectRegistry(config.registryCreatedUnixNs, config.inputs.generation);
    }
    const foreign = this.#staleSince(info.createdNs);
    for (const checkpoint of checkpoints.whole()) {
      const partition = partitions[checkpoint.partition];
      if (partition === undefined || checkpoint.epoch < partition.epoch) {
        continue;
      }
      const same = checkpoint.streamCreatedNs === info.createdNs;
      if (!same || checkpoint.coveredSequence > info.lastSequence) {
        foreign.add(checkpoint.partition);
      }
      if (
        checkpoint.epoch > partition.epoch ||
        checkpoint.coveredSequence > partition.lastSequence
      ) {
        partition.restore(checkpoint);
      }
      ground.expectRegistry(checkpoint.registryCreatedNs, checkpoint.inputs?.generation ?? 0n);
    }
    partitions.forEach((partition, index) => {
      if (foreign.has(index) || partition.lastSequence > info.lastSequence) {
        partition.isForeign();
      }
    });
    this.#createdNs = info.createdNs;
    if (this.#whole) {
      this.#whole = false;
      for (const partition of partitions) {
        partition.rewind();
      }
    }
    const next = Math.min(...partitions.map((partition) => partition.lastSequence)) + 1;
    const from = next <= 1 || info.lastSequence === 0 ? "all" : Math.min(next, info.lastSequence);
    out.fork({ kind: "follow", reader: "versions", stream: "VERSIONS", filters: [], from });
  }

  /** Partitions that were read from another stream than the one that is there now. */
  #staleSince(createdNs: bigint): Set<number> {
    const another = this.#createdNs !== 0n && this.#createdNs !== createdNs;
    const { partitions } = this.#parts;
    return new Set(
      partitions.flatMap(({ epoch }, index) => (another && epoch > 0n ? [index] : [])),
    );
  }
}

function isFollowed(reader: string): reader is FollowedName {
  return Object.hasOwn(FOLLOWED, reader);
}
