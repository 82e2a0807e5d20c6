import type { SelectorSpec } from "../../model.ts";
import { Column } from "../store/column.ts";
import { IntLists } from "../store/int-lists.ts";
import { Links } from "../store/links.ts";
import { Sequences } from "../store/sequences.ts";
import { LabelPairs } from "./label-pairs.ts";
import { SelectorAnchors } from "./selector-anchors.ts";

/**
 * Label sets and selectors, interned, with the relation of which set satisfies which selector. It is
 * complete at every moment: a new set is held against the selectors that hang on its labels, a new
 * selector against the sets that have the labels of its rarest clause.
 *
 * Sets and selectors are counted by those who hold them and forgotten by `sweep`, so that what goes
 * and returns within one batch of changes costs nothing.
 */
export class LabelIndex {
  readonly #pairs = new LabelPairs();
  /** Sorted pairs of each set. */
  readonly #sets = new Sequences();
  readonly #setReferences = new Column();
  #unusedSets: number[] = [];
  /** Clauses of each selector: the number of their pairs, then those in order. */
  readonly #selectors = new Sequences();
  readonly #selectorReferences = new Column();
  #unusedSelectors: number[] = [];
  /** Sets that have a pair. */
  readonly #holders = new IntLists("in heads");
  /** Place of a set in the list of each of its pairs, in the order of its pairs. */
  readonly #places = new IntLists("in heads");
  /** From selectors to the sets that satisfy them. */
  readonly #matches = new Links();
  readonly #anchors = new SelectorAnchors({
    clauses: this.#selectors,
    holders: (pair) => this.#holders.length(pair),
  });
  #scratch = new Int32Array(64);

  /** Makes room for so many sets and selectors, known beforehand. */
  reserve(sets: number, selectors: number): void {
    this.#sets.reserve(sets, 4);
    this.#setReferences.reserve(sets);
    this.#places.reserve(sets, 4 * sets);
    this.#selectors.reserve(selectors, 4);
    this.#selectorReferences.reserve(selectors);
    this.#matches.reserve(selectors, sets, Math.max(sets, selectors));
  }

  /** Takes a reference to the set of these labels. */
  holdSet(labels: Readonly<Record<string, string>>): number {
    const set = this.#sets.intern(this.#scratch, this.#readPairs(labels));
    if (this.#sets.created) {
      this.#setReferences.put(set, 0);
      this.#addSet(set);
    }
    this.#setReferences.add(set, 1);
    return set;
  }

  /** Takes one more reference to a set. */
  keepSet(set: number): void {
    this.#setReferences.add(set, 1);
  }

  releaseSet(set: number): void {
    if (this.#setReferences.add(set, -1) === 0) {
      this.#unusedSets.push(set);
    }
  }

  /** Labels of a set, keys in no particular order. */
  labels(set: number): Readonly<Record<string, string>> {
    const entries: [string, string][] = [];
    for (let index = 0; index < this.#sets.length(set); index++) {
      const pair = this.#sets.at(set, index);
      entries.push([this.#pairs.key(pair), this.#pairs.value(pair)]);
    }
    return Object.fromEntries(entries);
  }

  /** Takes a reference to a selector. */
  holdSelector(spec: SelectorSpec): number {
    const selector = this.#selectors.intern(this.#scratch, this.#readClauses(spec));
    if (this.#selectors.created) {
      this.#selectorReferences.put(selector, 0);
      this.#addSelector(selector);
    }
    this.#selectorReferences.add(selector, 1);
    return selector;
  }

  /** Takes one more reference to a selector. */
  keepSelector(selector: number): void {
    this.#selectorReferences.add(selector, 1);
  }

  releaseSelector(selector: number): void {
    if (this.#selectorReferences.add(selector, -1) === 0) {
      this.#unusedSelectors.push(selector);
    }
  }

  /** Number of selectors that a set satisfies. */
  selectorCount(set: number): number {
    return this.#matches.countOfRight(set);
  }

  /** One of the selectors that a set satisfies. */
  selectorAt(set: number, index: number): number {
    return this.#matches.leftAt(set, index);
  }

  /** Number of sets that satisfy a selector. */
  setCount(selector: number): number {
    return this.#matches.countOfLeft(selector);
  }

  /** One of the sets that satisfy a selector. */
  setAt(selector: number, index: number): number {
    return this.#matches.rightAt(selector, index);
  }

  /** True if a set satisfies a selector. A selector without a clause is satisfied by nothing. */
  matches(selector: number, set: number): boolean {
    const { items } = this.#selectors;
    const end = this.#selectors.start(selector) + this.#selectors.length(selector);
    let at = this.#selectors.start(selector);
    if (at === end) {
      return false;
    }
    while (at < end) {
      const length = items[at] ?? 0;
      if (!this.#hasOneOf(set, items, at + 1, length)) {
        return false;
      }
      at += 1 + length;
    }
    return true;
  }

  get setTotal(): number {
    return this.#sets.size;
  }

  get selectorTotal(): number {
    return this.#selectors.size;
  }

  /** Number of sets and selectors that `sweep` looks at. */
  get unused(): number {
    return this.#unusedSets.length + this.#unusedSelectors.length;
  }

  /** Forgets sets and selectors that nobody holds. */
  sweep(): void {
    for (const selector of new Set(this.#unusedSelectors)) {
      if (this.#selectorReferences.at(selector) === 0) {
        this.#dropSelector(selector);
      }
    }
    this.#unusedSelectors = [];
    for (const set of new Set(this.#unusedSets)) {
      if (this.#setReferences.at(set) === 0) {
        this.#dropSet(set);
      }
    }
    this.#unusedSets = [];
  }

  #addSet(set: number): void {
    const length = this.#sets.length(set);
    for (let index = 0; index < length; index++) {
      const pair = this.#sets.at(set, index);
      this.#places.push(set, this.#holders.push(pair, set));
      this.#anchors.review(pair);
    }
    for (let index = 0; index < length; index++) {
      const pair = this.#sets.at(set, index);
      const hanging = this.#anchors.count(pair);
      for (let place = 0; place < hanging; place++) {
        const selector = this.#anchors.at(pair, place);
        if (this.matches(selector, set)) {
          this.#matches.link(selector, set);
        }
      }
    }
  }

  #dropSet(set: number): void {
    this.#matches.dropRight(set);
    for (let index = 0; index < this.#sets.length(set); index++) {
      const pair = this.#sets.at(set, index);
      const place = this.#places.at(set, index);
      const moved = this.#holders.swapOut(pair, place);
      this.#places.put(moved, this.#indexOf(moved, pair), place);
      if (this.#holders.length(pair) === 0) {
        this.#holders.clear(pair);
        if (!this.#pairs.isNamed(pair)) {
          this.#pairs.forget(pair);
        }
      }
    }
    this.#places.clear(set);
    this.#sets.remove(set);
  }

  #addSelector(selector: number): void {
    const { items } = this.#selectors;
    const end = this.#selectors.start(selector) + this.#selectors.length(selector);
    for (let at = this.#selectors.start(selector); at < end; at += 1 + (items[at] ?? 0)) {
      for (let index = 1; index <= (items[at] ?? 0); index++) {
        this.#pairs.hold(items[at + index] ?? 0);
      }
    }
    this.#anchors.hang(selector);
    const anchored = this.#anchors.clauseOf(selector);
    for (let index = 1; anchored >= 0 && index <= this.#selectors.at(selector, anchored); index++) {
      const pair = this.#selectors.at(selector, anchored + index);
      const holders = this.#holders.length(pair);
      for (let place = 0; place < holders; place++) {
        const set = this.#holders.at(pair, place);
        if (this.matches(selector, set)) {
          this.#matches.link(selector, set);
        }
      }
    }
  }

  #dropSelector(selector: number): void {
    this.#matches.dropLeft(selector);
    this.#anchors.takeDown(selector);
    const { items } = this.#selectors;
    const end = this.#selectors.start(selector) + this.#selectors.length(selector);
    for (let at = this.#selectors.start(selector); at < end; at += 1 + (items[at] ?? 0)) {
      for (let index = 1; index <= (items[at] ?? 0); index++) {
        const pair = items[at + index] ?? 0;
        if (this.#pairs.release(pair) && this.#holders.length(pair) === 0) {
          this.#pairs.forget(pair);
        }
      }
    }
    this.#selectors.remove(selector);
  }

  #hasOneOf(set: number, pairs: Int32Array, start: number, length: number): boolean {
    const { items } = this.#sets;
    const from = this.#sets.start(set);
    const to = from + this.#sets.length(set);
    for (let index = start; index < start + length; index++) {
      const wanted = pairs[index];
      for (let at = from; at < to; at++) {
        if (items[at] === wanted) {
          return true;
        }
      }
    }
    return false;
  }

  #indexOf(set: number, pair: number): number {
    let index = 0;
    while (index < this.#sets.length(set) && this.#sets.at(set, index) !== pair) {
      index += 1;
    }
    return index;
  }

  /** Writes the sorted pairs of labels to the scratch and returns their number. */
  #readPairs(labels: Readonly<Record<string, string>>): number {
    let length = 0;
    // Unlike a list of the keys, this makes nothing for each of a hundred thousand workloads.
    for (const key in labels) {
      this.#write(length, this.#pairs.intern(key, labels[key] ?? ""));
      length += 1;
    }
    this.#sortScratch(0, length);
    return length;
  }

  /** Writes a selector's clauses in a fixed order; nothing for one that matches nothing. */
  #readClauses(spec: SelectorSpec): number {
    let areSingle = true;
    for (const key in spec) {
      const count = spec[key]?.length ?? 0;
      if (count === 0) {
        return 0;
      }
      areSingle &&= count === 1;
    }
    return areSingle ? this.#readSingles(spec) : this.#readAll(spec, Object.keys(spec));
  }

  #readAll(spec: SelectorSpec, keys: readonly string[]): number {
    const clauses = keys.map((key) => this.#clauseOf(key, spec[key] ?? []));
    clauses.sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
    let length = 0;
    for (const pairs of clauses) {
      this.#write(length++, pairs.length);
      for (const pair of pairs) {
        this.#write(length++, pair);
      }
    }
    return length;
  }

  /** Clauses of one value each, as most selectors have. */
  #readSingles(spec: SelectorSpec): number {
    let count = 0;
    for (const key in spec) {
      this.#write(count++, this.#pairs.intern(key, spec[key]?.[0] ?? ""));
    }
    this.#sortScratch(0, count);
    for (let index = count - 1; index >= 0; index--) {
      this.#write(2 * index + 1, this.#scratch[index] ?? 0);
      this.#write(2 * index, 1);
    }
    return 2 * count;
  }

  #clauseOf(key: string, values: readonly string[]): number[] {
    const pairs = values.map((value) => this.#pairs.intern(key, value));
    return pairs.length < 2 ? pairs : [...new Set(pairs)].sort((a, b) => a - b);
  }

  #write(index: number, value: number): void {
    if (index >= this.#scratch.length) {
      const larger = new Int32Array(this.#scratch.length * 2);
      larger.set(this.#scratch);
      this.#scratch = larger;
    }
    this.#scratch[index] = value;
  }

  #sortScratch(start: number, end: number): void {
    const scratch = this.#scratch;
    for (let index = start + 1; index < end; index++) {
      const value = scratch[index] ?? 0;
      let at = index - 1;
      while (at >= start && (scratch[at] ?? 0) > value) {
        scratch[at + 1] = scratch[at] ?? 0;
        at -= 1;
      }
      scratch[at + 1] = value;
    }
  }
}
