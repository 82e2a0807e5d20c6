import { compareBytes } from "@ringwall/labels";
import type { LabelIndex } from "../labels/label-index.ts";
import type { PeerSets } from "../peers/peer-sets.ts";
import { Column } from "../store/column.ts";
import { grown } from "../store/int-lists.ts";
import { Links } from "../store/links.ts";
import { Sequences } from "../store/sequences.ts";
import type { RuleBook } from "./rule-book.ts";
import { joinRules, type PlannedRule, type Ruleset } from "./ruleset.ts";

/** Rulesets that a workload is in the scope of. Equal ones are one object. */
export interface RuleList {
  readonly index: number;
  /** In byte order of their names. */
  readonly rulesets: readonly Ruleset[];
  /** Their rules by id in byte order, each id once. */
  readonly rules: readonly PlannedRule[];
  /** Rules of all rulesets, those with one id each for itself. */
  readonly ruleCount: number;
  /** At least as many bytes as they have beside the texts of their peer sets. */
  readonly fixedBytes: number;
}

/** Finds the rule list of each label set and knows in which lists a ruleset is. */
export class RuleLists {
  readonly #labels: LabelIndex;
  readonly #book: RuleBook;
  readonly #peers: PeerSets;
  readonly #keys = new Sequences();
  readonly #lists: (RuleList | undefined)[] = [];
  readonly #references = new Column();
  #unused: number[] = [];
  /** From rulesets to the lists that they are in. */
  readonly #byRuleset = new Links();
  /** List of each label set, + 1; 0 if it was not asked for since it changed. */
  readonly #ofSet = new Column();
  #indexes = new Int32Array(64);

  constructor(labels: LabelIndex, book: RuleBook, peers: PeerSets) {
    this.#labels = labels;
    this.#book = book;
    this.#peers = peers;
  }

  /** Makes room for the lists of so many rulesets and label sets, known beforehand. */
  reserve(rulesets: number, sets: number): void {
    this.#keys.reserve(rulesets, 1);
    this.#references.reserve(rulesets);
    this.#byRuleset.reserve(rulesets, rulesets, rulesets);
    this.#ofSet.reserve(sets);
    this.#lists.length = Math.max(this.#lists.length, rulesets);
  }

  get size(): number {
    return this.#keys.size;
  }

  /** Number of lists that a ruleset is in. */
  countOfRuleset(ruleset: number): number {
    return this.#byRuleset.countOfLeft(ruleset);
  }

  ofRulesetAt(ruleset: number, index: number): number {
    return this.#byRuleset.rightAt(ruleset, index);
  }

  /** The list of a label set. */
  of(set: number): RuleList {
    const known = this.#lists[this.#ofSet.at(set) - 1];
    if (known !== undefined) {
      return known;
    }
    const list = this.#intern(this.#readIndexes(set));
    this.#ofSet.put(set, list.index + 1);
    this.#references.add(list.index, 1);
    return list;
  }

  /** Takes one more reference to a list. */
  keep(list: RuleList): void {
    this.#references.add(list.index, 1);
  }

  release(list: RuleList): void {
    if (this.#references.add(list.index, -1) === 0) {
      this.#unused.push(list.index);
    }
  }

  /** Forgets what the list of a label set is; true if that was known. */
  invalidate(set: number): boolean {
    const list = this.#lists[this.#ofSet.at(set) - 1];
    if (list === undefined) {
      return false;
    }
    this.#ofSet.put(set, 0);
    this.release(list);
    return true;
  }

  /** Forgets lists that nobody holds. */
  sweep(): void {
    for (const index of new Set(this.#unused)) {
      const list = this.#lists[index];
      if (list !== undefined && this.#references.at(index) === 0) {
        this.#drop(list);
      }
    }
    this.#unused = [];
  }

  /** Writes the rulesets whose scope a label set is in to the scratch, in order; their number. */
  #readIndexes(set: number): number {
    let count = 0;
    for (let at = this.#labels.selectorCount(set) - 1; at >= 0; at--) {
      const selector = this.#labels.selectorAt(set, at);
      for (let index = this.#book.countOfScope(selector) - 1; index >= 0; index--) {
        if (count === this.#indexes.length) {
          this.#indexes = grown(this.#indexes, count + 1);
        }
        this.#indexes[count++] = this.#book.ofScopeAt(selector, index);
      }
    }
    if (count > 1) {
      this.#indexes.subarray(0, count).sort();
    }
    return count;
  }

  #intern(count: number): RuleList {
    const index = this.#keys.intern(this.#indexes, count);
    const known = this.#lists[index];
    if (!this.#keys.created && known !== undefined) {
      return known;
    }
    const rulesets = this.#rulesets(count);
    if (rulesets.length > 1) {
      rulesets.sort((a, b) => compareBytes(a.spec.name, b.spec.name));
    }
    let ruleCount = 0;
    let fixedBytes = 0;
    for (const ruleset of rulesets) {
      ruleCount += ruleset.rules.length;
      fixedBytes += ruleset.fixedBytes;
    }
    const list = { index, rulesets, rules: joinRules(rulesets), ruleCount, fixedBytes };
    this.#lists[index] = list;
    this.#references.put(index, 0);
    for (const ruleset of rulesets) {
      if (this.#byRuleset.countOfLeft(ruleset.index) === 0) {
        for (const { source } of ruleset.rules) {
          this.#peers.use(source);
        }
      }
      this.#byRuleset.link(ruleset.index, index);
    }
    return list;
  }

  /** The rulesets whose indexes stand in the scratch. */
  #rulesets(count: number): Ruleset[] {
    const first = count === 1 ? this.#book.ruleset(this.#indexes[0] ?? 0) : undefined;
    if (first !== undefined) {
      return [first];
    }
    const rulesets: Ruleset[] = [];
    for (let at = 0; at < count; at++) {
      const ruleset = this.#book.ruleset(this.#indexes[at] ?? 0);
      if (ruleset !== undefined) {
        rulesets.push(ruleset);
      }
    }
    return rulesets;
  }

  #drop(list: RuleList): void {
    this.#byRuleset.dropRight(list.index);
    for (const ruleset of list.rulesets) {
      if (this.#byRuleset.countOfLeft(ruleset.index) === 0) {
        for (const { source } of ruleset.rules) {
          this.#peers.disuse(source);
        }
      }
    }
    this.#lists[list.index] = undefined;
    this.#keys.remove(list.index);
  }
}
