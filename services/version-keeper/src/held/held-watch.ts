import {
  EffectFailed,
  pause,
  readAt,
  type StoredRecord,
  type StreamState,
  signalled,
  streamState,
  type Task,
} from "@ringwall/actor";
import { RegistryClaims } from "@ringwall/bus";
import { ApiFailure } from "../api/api-failure.ts";
import type { CheckpointBook } from "../checkpoints/checkpoint-book.ts";
import type { ConfigReader } from "../config/config-reader.ts";
import type { HeadChecker } from "../config/head-check.ts";
import { type KeeperContext, log } from "../context.ts";
import type { VersionLog } from "../versions/version-log.ts";
import { type HeldVerdict, judgeHeld, placeOf } from "./judge.ts";
import { type NamedState, namedStates } from "./named-state.ts";

const SIGNAL = "held";

const OWNERS_READER = "held.owners";

/** Wait before the lost reader of OWNER keys is started again. */
const OWNERS_AGAIN_MS = 500;

/** Wait before the streams are asked again after a failure. */
const RETRY_MS = 1_000;

/** Records are judged at most this often. */
const LAZY_MS = 100;

/** Before anything else is known of a head that takes long to read. */
const HEAD_PENDING: HeldVerdict = {
  kind: "held",
  reason: "the head commit is being read",
  byCommit: true,
};

/** What the watch looks at. */
export interface HeldParts {
  readonly context: KeeperContext;
  readonly config: ConfigReader;
  readonly head: HeadChecker;
  readonly versions: VersionLog;
  readonly book: CheckpointBook;
  /** True once all readers have delivered what was stored at the start. */
  readonly isCaughtUp: () => boolean;
}

/** Highest values that were looked for at the leaders. */
interface Confirmed {
  generation: bigint;
  configSequence: bigint;
  registryRevision: bigint;
}

/** Watches whether the control plane is held. Until it is known, it counts as held. */
export class HeldWatch {
  readonly #parts: HeldParts;
  #verdict: HeldVerdict = { kind: "held", reason: "the logs are being read", byCommit: false };
  #registry: StreamState | undefined;
  #confirmed: Confirmed = { generation: 0n, configSequence: 0n, registryRevision: 0n };
  #dirty = true;
  #urgent = true;
  #judgedMs = Number.NEGATIVE_INFINITY;
  /** Places in REGISTRY that hold what was named, and those that hold something else. */
  readonly #verified = new Set<string>();
  readonly #replaced = new Set<string>();
  readonly #owners = new RegistryClaims();
  #ownersRead = false;
  #known = false;
  #shown: string | undefined;

  constructor(parts: HeldParts) {
    this.#parts = parts;
  }

  /** True once it was judged. */
  get isKnown(): boolean {
    return this.#known;
  }

  /** Why the control plane is held; undefined if it is not. */
  get reason(): string | undefined {
    return this.#verdict.kind === "held" ? this.#verdict.reason : undefined;
  }

  /** Why no commit may be made; undefined if one may. */
  get reasonAgainstCommits(): string | undefined {
    const verdict = this.#verdict;
    return verdict.kind === "held" && !verdict.byCommit ? verdict.reason : undefined;
  }

  /** Creation time and sequences of REGISTRY when it was asked last. */
  get registry(): StreamState | undefined {
    return this.#registry;
  }

  /** Everything that the logs and checkpoints name. */
  named(): NamedState[] {
    return namedStates(this.#parts.versions, this.#parts.book);
  }

  /** Starts to ask the streams. */
  start(): void {
    const { tasks } = this.#parts.context;
    this.#followOwners();
    tasks.start(this.#ask(), (outcome) => {
      if (!outcome.ok) {
        throw outcome.error;
      }
    });
  }

  /** When partitions of REGISTRY were taken over. */
  get owners(): RegistryClaims {
    return this.#owners;
  }

  /** Takes a record if it is of this watch's reader. */
  take(reader: string, record: StoredRecord): boolean {
    if (reader !== OWNERS_READER) {
      return false;
    }
    this.#owners.take(record);
    return true;
  }

  /** Notes that a reader has delivered what was stored at its start. */
  caughtUp(reader: string): void {
    if (reader === OWNERS_READER) {
      this.#ownersRead = true;
      this.askNow();
    }
  }

  /** Notes that a reader is gone because its stream is another one. */
  readerLost(reader: string): void {
    if (reader === OWNERS_READER) {
      this.#owners.clear();
      this.#ownersRead = false;
      this.#parts.context.tasks.start(this.#followAgain(), () => undefined);
    }
  }

  *#followAgain(): Task<void> {
    yield* pause(OWNERS_AGAIN_MS);
    this.#followOwners();
  }

  #followOwners(): void {
    const { outbox, names } = this.#parts.context;
    outbox.add({
      kind: "follow",
      reader: OWNERS_READER,
      stream: "REGISTRY",
      filters: [names.registryOwners],
      from: "last-per-subject",
    });
  }

  /** Notes that something may have changed. */
  touch(): void {
    this.#dirty = true;
    this.#urgent = true;
  }

  /** Notes that a record came, as they do all the time; judged soon, but not for each. */
  touchLazily(): void {
    this.#dirty = true;
  }

  /** The bus was away: the store may be another one. */
  reconnected(): void {
    this.#verified.clear();
    this.askNow();
  }

  /** Asks the streams again at once. */
  askNow(): void {
    this.#parts.context.tasks.signal(SIGNAL);
  }

  /** Judges anew if something changed. True if the verdict is another one. */
  evaluate(): boolean {
    const { context, config, head, versions, book } = this.#parts;
    if (!this.#dirty || this.#registry === undefined || !this.#parts.isCaughtUp()) {
      return false;
    }
    const nowMs = context.moment().monotonicMs;
    if (!this.#urgent && nowMs - this.#judgedMs < LAZY_MS) {
      return false;
    }
    this.#judgedMs = nowMs;
    this.#dirty = false;
    this.#urgent = false;
    const verdict = judgeHeld({
      config: config.log,
      configProblem: config.problem,
      environment: context.environment,
      head: head.state,
      registry: this.#registry,
      replaced: this.#replaced,
      named: namedStates(versions, book),
    });
    if (verdict.kind === "pending") {
      return this.#known ? false : this.#conclude(HEAD_PENDING);
    }
    if (
      verdict.kind === "held" &&
      verdict.named !== undefined &&
      !this.#isConfirmed(verdict.named)
    ) {
      this.askNow();
      return false;
    }
    return this.#conclude(verdict);
  }

  #conclude(verdict: HeldVerdict): boolean {
    this.#verdict = verdict;
    this.#known = true;
    return this.#show();
  }

  #show(): boolean {
    const reason = this.reason;
    if (reason === this.#shown) {
      return false;
    }
    const { context } = this.#parts;
    this.#shown = reason;
    context.outbox.add({
      kind: "gauge",
      name: "ringwall_held",
      value: reason === undefined ? 0 : 1,
    });
    if (reason === undefined) {
      log(context, "info", "the control plane is not held");
    } else {
      log(context, "warn", "the control plane is held", { reason });
    }
    return true;
  }

  #isConfirmed({ inputs }: NamedState): boolean {
    const confirmed = this.#confirmed;
    return (
      inputs.generation <= confirmed.generation &&
      inputs.configSequence <= confirmed.configSequence &&
      inputs.registryRevision <= confirmed.registryRevision
    );
  }

  *#ask(): Task<void> {
    const { context, config } = this.#parts;
    for (;;) {
      while (!this.#ownersRead) {
        yield* signalled(SIGNAL, context.options.heldCheckMs);
      }
      const highest = this.#highest();
      let waitMs = context.options.heldCheckMs;
      try {
        const registry = yield* streamState("REGISTRY");
        yield* this.#verify();
        if (!this.#ownersRead) {
          continue;
        }
        this.#registry = registry;
        if (config.problem === undefined) {
          yield* config.catchUp();
        }
        this.#confirmed = highest;
        this.touch();
      } catch (error) {
        if (!(error instanceof EffectFailed) && !(error instanceof ApiFailure)) {
          throw error;
        }
        log(context, "debug", "the streams could not be asked", { reason: error.message });
        waitMs = RETRY_MS;
      }
      if (waitMs === RETRY_MS) {
        yield* pause(waitMs);
      } else {
        yield* signalled(SIGNAL, waitMs);
      }
    }
  }

  /** Looks whether REGISTRY still holds the records up to which it was read. */
  *#verify(): Task<void> {
    const { generation } = this.#parts.config.log;
    const wanted = new Set<string>();
    for (const named of this.named()) {
      const place = placeOf(named);
      if (place !== undefined && named.inputs.generation === generation) {
        wanted.add(place);
      }
    }
    for (const known of [this.#verified, this.#replaced]) {
      for (const place of known) {
        if (!wanted.has(place)) {
          known.delete(place);
        }
      }
    }
    for (const place of wanted) {
      if (this.#verified.has(place)) {
        continue;
      }
      const [revision = "", time = ""] = place.split(" ");
      const record = yield* readAt("REGISTRY", Number(revision));
      const inputs = { registryRevision: BigInt(revision), registryTimeUnixMs: BigInt(time) };
      // One that is gone was replaced by a later one of its key: then it is told by when partitions
      // were taken over. The end of a stream that went back, which may still grow, says nothing.
      if (record === undefined) {
        if (!this.#ownersRead) {
          continue;
        }
        if (this.#owners.contradict(inputs)) {
          this.#replaced.add(place);
        } else {
          this.#replaced.delete(place);
        }
      } else if (String(Math.trunc(record.timeUnixMs)) === time) {
        this.#replaced.delete(place);
        this.#verified.add(place);
      } else {
        this.#replaced.add(place);
      }
    }
  }

  #highest(): Confirmed {
    const highest: Confirmed = { generation: 0n, configSequence: 0n, registryRevision: 0n };
    for (const { inputs } of this.named()) {
      for (const key of ["generation", "configSequence", "registryRevision"] as const) {
        highest[key] = inputs[key] > highest[key] ? inputs[key] : highest[key];
      }
    }
    return highest;
  }
}
