import { compareBytes, matches } from "@ringwall/labels";
import type { SelectorSpec } from "../model.ts";
import { type LabelSet, pairText } from "./label-sets.ts";

/** An interned selector: equal ones are one object. */
export interface Selector {
  /** Position among the interned selectors. */
  readonly index: number;
  readonly spec: SelectorSpec;
}

/** Canonical text of a selector: keys and values in byte order, each once. */
export function selectorText(spec: SelectorSpec): string {
  return Object.entries(spec)
    .map(([key, values]) => pairText(key, [...new Set(values)].sort(compareBytes).join("\0")))
    .sort(compareBytes)
    .join("\0\0");
}

/**
 * Finds the selectors that a label set satisfies without trying them all: each selector hangs on the
 * labels of its rarest clause.
 */
export class SelectorIndex {
  readonly #byText = new Map<string, Selector>();
  readonly #anchored = new Map<string, Selector[]>();
  readonly selectors: Selector[] = [];

  intern(spec: SelectorSpec): Selector {
    const text = selectorText(spec);
    let selector = this.#byText.get(text);
    if (selector === undefined) {
      selector = { index: this.selectors.length, spec };
      this.#byText.set(text, selector);
      this.selectors.push(selector);
    }
    return selector;
  }

  /** Hangs every selector on its clause that the fewest of these label sets satisfy. */
  anchor(sets: Iterable<LabelSet>): void {
    const counts = new Map<string, number>();
    for (const { pairs } of sets) {
      for (const pair of pairs) {
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    }
    this.#anchored.clear();
    for (const selector of this.selectors) {
      for (const pair of rarestClause(selector.spec, counts)) {
        const list = this.#anchored.get(pair);
        if (list === undefined) {
          this.#anchored.set(pair, [selector]);
        } else {
          list.push(selector);
        }
      }
    }
  }

  /** Selectors that the label set satisfies, each once; needs `anchor` first. */
  matching(set: LabelSet): Selector[] {
    return set.pairs.flatMap((pair) =>
      (this.#anchored.get(pair) ?? []).filter(({ spec }) => matches(spec, set.labels)),
    );
  }
}

/** Labels of the clause with the fewest holders; nothing for a selector that matches nothing. */
function rarestClause(spec: SelectorSpec, counts: ReadonlyMap<string, number>): string[] {
  let rarest: string[] = [];
  let fewest = Number.POSITIVE_INFINITY;
  for (const [key, values] of Object.entries(spec)) {
    const pairs = [...new Set(values)].map((value) => pairText(key, value));
    const holders = pairs.reduce((sum, pair) => sum + (counts.get(pair) ?? 0), 0);
    if (holders < fewest) {
      rarest = pairs;
      fewest = holders;
    }
  }
  return rarest;
}
