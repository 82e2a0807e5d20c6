import { Column } from "../store/column.ts";
import { IntLists } from "../store/int-lists.ts";
import type { Sequences } from "../store/sequences.ts";

/** What anchors are chosen by. */
export interface AnchorBase {
  /** Clauses of each selector: the number of their pairs, then those. */
  readonly clauses: Sequences;
  /** Number of label sets that have a pair. */
  readonly holders: (pair: number) => number;
}

/** A list of this length is never looked through again. */
const SHORT_LIST = 16;

/**
 * Hangs each selector on the pairs of its rarest clause, so that a new label set is held against few
 * selectors. What was rare may become common: once a pair has twice the sets that it had, selectors
 * that hang on it are hung anew, which costs each of them a logarithmic number of moves.
 */
export class SelectorAnchors {
  readonly #base: AnchorBase;
  /** Selectors that hang on a pair. */
  readonly #hanging = new IntLists("in heads");
  /** Where the clause that a selector hangs on begins in it, + 1; 0 if it hangs on nothing. */
  readonly #clause = new Column();
  /** Number of sets at which a pair's selectors are looked at again. */
  readonly #reviewAt = new Column();

  constructor(base: AnchorBase) {
    this.#base = base;
  }

  count(pair: number): number {
    return this.#hanging.length(pair);
  }

  at(pair: number, index: number): number {
    return this.#hanging.at(pair, index);
  }

  /** Where the clause that a selector hangs on begins in it; -1 if it hangs on nothing. */
  clauseOf(selector: number): number {
    return this.#clause.at(selector) - 1;
  }

  /** Hangs a selector. */
  hang(selector: number): void {
    const clause = this.#rarest(selector);
    this.#clause.put(selector, clause + 1);
    const { clauses } = this.#base;
    for (let index = 1; clause >= 0 && index <= clauses.at(selector, clause); index++) {
      this.#hanging.push(clauses.at(selector, clause + index), selector);
    }
  }

  /** Takes a selector off its pairs. */
  takeDown(selector: number): void {
    const { clauses } = this.#base;
    const clause = this.clauseOf(selector);
    for (let index = 1; clause >= 0 && index <= clauses.at(selector, clause); index++) {
      this.#remove(clauses.at(selector, clause + index), selector);
    }
    this.#clause.put(selector, 0);
  }

  /** Called when a pair has got one more set. */
  review(pair: number): void {
    const length = this.#hanging.length(pair);
    if (length < SHORT_LIST) {
      return;
    }
    const holders = this.#base.holders(pair);
    if (holders < this.#reviewAt.at(pair)) {
      return;
    }
    this.#reviewAt.put(pair, Math.max(SHORT_LIST, holders * 2));
    for (const selector of this.#hanging.toArray(pair)) {
      if (this.#rarest(selector) + 1 !== this.#clause.at(selector)) {
        this.takeDown(selector);
        this.hang(selector);
      }
    }
  }

  /** Where the clause with the fewest sets begins; -1 for a selector without clauses. */
  #rarest(selector: number): number {
    const { clauses, holders } = this.#base;
    const length = clauses.length(selector);
    let rarest = -1;
    let fewest = Number.POSITIVE_INFINITY;
    for (let at = 0; at < length; at += 1 + clauses.at(selector, at)) {
      let sets = 0;
      for (let index = 1; index <= clauses.at(selector, at); index++) {
        sets += holders(clauses.at(selector, at + index));
      }
      if (sets < fewest) {
        rarest = at;
        fewest = sets;
      }
    }
    return rarest;
  }

  #remove(pair: number, selector: number): void {
    const length = this.#hanging.length(pair);
    for (let index = 0; index < length; index++) {
      if (this.#hanging.at(pair, index) === selector) {
        this.#hanging.swapOut(pair, index);
        if (length === 1) {
          this.#hanging.clear(pair);
          this.#reviewAt.put(pair, 0);
        }
        return;
      }
    }
  }
}
