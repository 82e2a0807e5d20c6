import { EffectFailed, pause, type Task } from "@ringwall/actor";
import type { RegistryClaims } from "@ringwall/bus";
import type { Inputs } from "@ringwall/wire";
import type { ConfigFeed } from "../config/config-feed.ts";
import type { TreeState } from "../config/head-tree.ts";
import type { Context } from "../context.ts";
import type { Evidence } from "./evidence.ts";
import { judge, readAgain } from "./judge.ts";

/** What later records say of the streams that everything is rendered from. */
type Judgement =
  | { readonly kind: "open" }
  | { readonly kind: "held"; readonly reason: string }
  | { readonly kind: "fine" };

/** What the gate looks at. */
export interface GateParts {
  readonly context: Context;
  readonly config: ConfigFeed;
  readonly evidence: Evidence;
  /** When partitions of REGISTRY were taken over. */
  readonly owners: RegistryClaims;
  readonly tree: () => TreeState;
  /** True once everything that was stored at the start is folded. */
  readonly isCurrent: () => boolean;
  /** Called when the streams were judged otherwise than before. */
  readonly judged: () => void;
}

const READING_COMMIT = "reading commit";

/** Decides whether anything may be rendered or emitted, and says so. */
export class Gate {
  readonly #parts: GateParts;
  #judgement: Judgement = { kind: "open" };
  #said: string | undefined;

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** Why nothing may be rendered or emitted; undefined if it may. */
  get reason(): string | undefined {
    const { config, context, tree, isCurrent } = this.#parts;
    const { fold, problem } = config;
    if (problem !== undefined) {
      return `held: ${problem}`;
    }
    if (!isCurrent() || this.#judgement.kind === "open") {
      return "reading CONFIG and REGISTRY";
    }
    if (!config.isIdle) {
      return READING_COMMIT;
    }
    if (fold.head === undefined) {
      return "held: CONFIG has no commit";
    }
    if (fold.environment !== context.environment) {
      return `held: CONFIG is of environment "${fold.environment}", this instance of "${context.environment}"`;
    }
    if (this.#judgement.kind === "held") {
      return `held: ${this.#judgement.reason}`;
    }
    const state = tree();
    const commit = fold.head.id.slice(0, 12);
    if (state.kind === "none" || state.commit !== fold.head.id) {
      return `${READING_COMMIT} ${commit}`;
    }
    return state.kind === "problem" ? `held: commit ${commit}: ${state.problem}` : undefined;
  }

  /** True if the streams have to be judged before anything goes on. */
  get isUnjudged(): boolean {
    return this.#judgement.kind !== "fine";
  }

  /** Judges the streams by all evidence; waits a while when they do not answer. */
  *judge(): Task<void> {
    const { context } = this.#parts;
    try {
      yield* this.#judge();
    } catch (error) {
      if (!(error instanceof EffectFailed)) {
        throw error;
      }
      context.outbox.log("warn", `streams can't be judged: ${error.message}`);
      yield* pause(context.options.retryMs);
    }
  }

  /** Takes inputs that the last record of a subject of RENDERED names; throws EffectFailed. */
  *claimed(subject: string, inputs: Inputs): Task<void> {
    this.#parts.evidence.add({ stream: "RENDERED", subject, inputs });
    yield* this.#judge();
  }

  /** Tells readiness when it changes. */
  say(rendered: boolean): void {
    const { outbox } = this.#parts.context;
    const reason = this.reason ?? (rendered ? "" : "rendering");
    // A new head is read in a moment; that is no reason to be taken out of service.
    const passing = this.#said === "" && reason.startsWith(READING_COMMIT);
    if (reason === this.#said || passing) {
      return;
    }
    this.#said = reason;
    const isHeld = reason.startsWith("held");
    outbox.add({ kind: "ready", ready: reason === "", ...(reason === "" ? {} : { reason }) });
    outbox.add({ kind: "gauge", name: "ringwall_held", value: isHeld ? 1 : 0 });
    if (isHeld) {
      outbox.log("warn", reason);
    }
  }

  *#judge(): Task<void> {
    const { context, config, evidence, owners } = this.#parts;
    let claims = [...evidence.claims];
    let reason = yield* judge(context, config, owners, claims);
    if (reason !== undefined && this.#judgement.kind === "held") {
      // Records may have been restored, replaced or lost since they were read.
      yield* readAgain(evidence, claims);
      claims = [...evidence.claims];
      reason = yield* judge(context, config, owners, claims);
    }
    if (reason !== undefined) {
      this.#set({ kind: "held", reason });
      return;
    }
    evidence.drop(claims);
    // Claims that came meanwhile are judged by whoever brought them; one that holds stays.
    if (evidence.isEmpty) {
      this.#set({ kind: "fine" });
    }
  }

  #set(judgement: Judgement): void {
    const before = this.#judgement.kind;
    this.#judgement = judgement;
    if (before !== judgement.kind) {
      this.#parts.judged();
    }
  }
}
