import type { Head } from "../../body-source.ts";
import type { ModeName } from "../../model.ts";
import type { CellMode } from "../workloads/cells.ts";
import type { PolicyClass } from "./policy-class.ts";

/**
 * Objects of these two classes come and go with every change, but each one that a first build makes
 * stays. From that V8 learns to put objects of a literal among the old ones at once, where those of
 * later changes pile up and keep what they name alive through many collections. It learns nothing
 * about what `new` makes.
 */

/** Head of a body that is within the limits. */
export class BodyHead {
  readonly kind = "body";
  readonly digest: string;
  readonly mode: ModeName;
  readonly weaker: boolean;

  constructor(digest: string, { mode, weaker }: CellMode) {
    this.digest = digest;
    this.mode = mode;
    this.weaker = weaker;
  }
}

/** What some classes have. Equal ones are one object, from flush to flush. */
export class KnownHead {
  readonly id: number;
  readonly head: Head;
  /** A class that has it, nearly always the only one; undefined if nobody has it. */
  holder: PolicyClass | undefined;
  /** Further ones. */
  others: Set<PolicyClass> | undefined;
  /** The last class that had it before the present flush, once nobody has it. */
  former: PolicyClass | undefined;

  constructor(id: number, head: Head) {
    this.id = id;
    this.head = head;
    this.holder = undefined;
    this.others = undefined;
    this.former = undefined;
  }
}
