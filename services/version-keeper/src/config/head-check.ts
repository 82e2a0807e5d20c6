import { EffectFailed, pause, type Task } from "@ringwall/actor";
import type { Configuration } from "@ringwall/render";
import { type KeeperContext, log } from "../context.ts";
import type { HeadCheck } from "../held/judge.ts";
import { toHex } from "../log/hex.ts";
import type { Admission } from "./admission.ts";
import type { CommitEntry } from "./config-log.ts";
import type { ConfigReader } from "./config-reader.ts";
import { treeDigest } from "./tree-digest.ts";

/** Wait before a head that can't be read or admitted is tried again. */
const RETRY_MS = 10_000;

/**
 * Reads and admits the tree of the head commit on every instance, whoever made it. A head that fails
 * is tried again until it passes or another commit supersedes it.
 */
export class HeadChecker {
  readonly #context: KeeperContext;
  readonly #reader: ConfigReader;
  readonly #admission: Admission;
  readonly #changed: () => void;
  #admitted: { readonly treeSha256: string; readonly configuration: Configuration } | undefined;
  #failed: { readonly commit: string; readonly reason: string } | undefined;
  #running = false;

  constructor(
    context: KeeperContext,
    reader: ConfigReader,
    admission: Admission,
    changed: () => void,
  ) {
    this.#context = context;
    this.#reader = reader;
    this.#admission = admission;
    this.#changed = changed;
  }

  /** What is known of the present head. */
  get state(): HeadCheck {
    const head = this.#reader.log.head;
    if (head === undefined || head.treeSha256 === this.#admitted?.treeSha256) {
      return { kind: "admitted" };
    }
    return this.#failed?.commit === head.id
      ? { kind: "bad", reason: this.#failed.reason }
      : { kind: "pending" };
  }

  /** The configuration of the present head, once it was admitted. */
  get configuration(): Configuration | undefined {
    const { head } = this.#reader.log;
    const admitted = this.#admitted;
    return head?.treeSha256 === admitted?.treeSha256 ? admitted?.configuration : undefined;
  }

  /** Notes that a tree was admitted elsewhere in this instance. */
  admitted(treeSha256: string, configuration: Configuration): void {
    this.#admitted = { treeSha256, configuration };
  }

  /** Starts to check the head if that is not done yet. */
  look(): void {
    if (this.#running || !this.#reader.isCaughtUp || this.state.kind === "admitted") {
      return;
    }
    this.#running = true;
    this.#context.tasks.start(this.#run(), (outcome) => {
      this.#running = false;
      if (!outcome.ok) {
        throw outcome.error;
      }
    });
  }

  *#run(): Task<void> {
    while (this.state.kind !== "admitted") {
      const { head } = this.#reader.log;
      if (head === undefined) {
        return;
      }
      const checked = yield* this.#check(head);
      if (head !== this.#reader.log.head) {
        continue;
      }
      if (typeof checked !== "string") {
        this.admitted(head.treeSha256, checked);
        this.#failed = undefined;
        this.#changed();
        return;
      }
      const reason = checked;
      this.#failed = { commit: head.id, reason };
      log(this.#context, "error", reason, { commit: head.id });
      this.#changed();
      yield* this.#wait(head);
    }
  }

  /** The configuration, or why the head can't be had. */
  *#check(head: CommitEntry): Task<Configuration | string> {
    const files = this.#reader.log.tree.sorted();
    const name = `head commit ${head.sequence}`;
    try {
      if (toHex(yield* treeDigest(files)) !== head.treeSha256) {
        return `${name} can't be read: its tree has another digest than it says`;
      }
      const result = yield* this.#admission.check(files);
      switch (result.kind) {
        case "admitted":
          return result.configuration;
        case "unreadable":
          return `${name} can't be read: ${result.detail}`;
        case "refused": {
          const first = result.findings.find((finding) => finding.warning !== true);
          return `${name} is not admitted: ${first?.file ?? ""} ${first?.rule ?? ""}`;
        }
      }
    } catch (error) {
      if (error instanceof EffectFailed) {
        return `${name} can't be read: ${error.message}`;
      }
      throw error;
    }
  }

  /** Waits for the next try, or for another head. */
  *#wait(head: CommitEntry): Task<void> {
    const until = this.#context.moment().monotonicMs + RETRY_MS;
    while (this.#reader.log.head === head && this.#context.moment().monotonicMs < until) {
      yield* pause(Math.min(RETRY_MS, 500));
    }
  }
}
