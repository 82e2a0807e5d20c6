import type { Head } from "../../body-source.ts";
import type { RouteList } from "../routes/decisions.ts";
import type { RuleList } from "../rules/rule-lists.ts";
import type { CellMode } from "../workloads/cells.ts";

/** Workloads that share one body: same rules, same mode, same routes. */
export interface PolicyClass {
  readonly index: number;
  readonly list: RuleList;
  readonly mode: CellMode;
  readonly routes: RouteList;
  /** What its workloads have; undefined until it was rendered. */
  head: Head | undefined;
}
