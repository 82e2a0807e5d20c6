import type { Head } from "../../body-source.ts";
import type { RouteList } from "../routes/decisions.ts";
import type { RuleList } from "../rules/rule-lists.ts";
import type { CellMode } from "../workloads/cells.ts";

/** What some classes have. Equal ones are one object, from flush to flush. */
export interface KnownHead {
  readonly id: number;
  readonly head: Head;
  /** A class that has it, nearly always the only one; undefined if nobody has it. */
  holder: PolicyClass | undefined;
  /** Further ones. */
  others: Set<PolicyClass> | undefined;
  /** The last class that had it before the present flush, once nobody has it. */
  former: PolicyClass | undefined;
}

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
