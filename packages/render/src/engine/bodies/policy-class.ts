import type { RouteList } from "../routes/decisions.ts";
import type { RuleList } from "../rules/rule-lists.ts";
import type { CellMode } from "../workloads/cells.ts";
import type { KnownHead } from "./known-head.ts";

/** Workloads that share one body: same rules, same mode, same routes. */
export interface PolicyClass {
  readonly index: number;
  readonly list: RuleList;
  readonly mode: CellMode;
  readonly routes: RouteList;
  /** Undefined until it was rendered. */
  head: KnownHead | undefined;
  /** Head before the flush in which it was rendered last, and the number of that flush. */
  headBefore: KnownHead | undefined;
  renderedIn: number;
}
