import { signalled, type Task } from "@ringwall/actor";
import type { Context } from "../context.ts";
import type { ConfigFold } from "./config-fold.ts";
import { type LoadedConfiguration, TreeLoader } from "./tree-loader.ts";

/** What the live tree at a commit is. */
export type TreeState =
  | { readonly kind: "none" }
  | { readonly kind: "problem"; readonly commit: string; readonly problem: string }
  | ({ readonly kind: "admitted"; readonly commit: string } & LoadedConfiguration);

const LOAD_SIGNAL = "load";

/** Keeps the configuration of the head commit; one that can't be read is tried again. */
export class HeadTree {
  readonly #context: Context;
  readonly #fold: ConfigFold;
  readonly #settled: () => void;
  readonly #loader: TreeLoader;
  #state: TreeState = { kind: "none" };
  #again = false;

  /** `settled` is called each time that a head was read, be it with a problem. */
  constructor(context: Context, fold: ConfigFold, settled: () => void) {
    this.#context = context;
    this.#fold = fold;
    this.#settled = settled;
    this.#loader = new TreeLoader(context);
  }

  /** The last head that was read; the present one may be another. */
  get state(): TreeState {
    return this.#state;
  }

  /** Looks at the head again: there may be a new one. */
  look(): void {
    this.#context.tasks.signal(LOAD_SIGNAL);
  }

  /** Reads the tree of each new head; never ends. */
  *run(): Task<never> {
    for (;;) {
      const { head, files } = this.#fold;
      const read = this.#state.kind !== "none" && this.#state.commit === head?.id;
      if (head === undefined || (read && !this.#again)) {
        yield* signalled(LOAD_SIGNAL, 60_000);
        continue;
      }
      const loading = yield* this.#loader.load(new Map(files));
      this.#again = false;
      if (this.#fold.head?.id !== head.id) {
        continue;
      }
      const commit = head.id;
      if ("configuration" in loading) {
        this.#state = { kind: "admitted", commit, ...loading };
      } else {
        this.#fail(commit, loading.problem);
        this.#again = loading.again;
      }
      this.#settled();
      if (this.#again) {
        yield* signalled(LOAD_SIGNAL, this.#context.options.retryMs);
      }
    }
  }

  #fail(commit: string, problem: string): void {
    const before = this.#state;
    const known = before.kind === "problem" && before.problem === problem;
    if (!known || before.commit !== commit) {
      this.#context.outbox.log("error", `nothing is rendered: ${problem}`, { commit });
    }
    this.#state = { kind: "problem", commit, problem };
  }
}
