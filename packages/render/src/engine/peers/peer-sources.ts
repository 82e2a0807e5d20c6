import type { PeerSpec, SelectorSpec } from "../../model.ts";
import type { LabelIndex } from "../labels/label-index.ts";
import { Column } from "../store/column.ts";
import { Ids } from "../store/ids.ts";
import { Links } from "../store/links.ts";
import { Sequences } from "../store/sequences.ts";
import type { TextTable } from "../store/text-table.ts";

interface Group {
  readonly id: number;
  readonly name: string;
  /** Prefixes; undefined while nobody defines the group. */
  members: ReadonlySet<number> | undefined;
}

/**
 * What peers come from: selectors, address groups and prefixes, interned. Equal sources are one, and
 * one source has one peer set, which bears its number.
 */
export class PeerSources {
  readonly #labels: LabelIndex;
  readonly #texts: TextTable;
  /** Number of selectors, those, number of groups, those, then prefixes; each in order. */
  readonly #terms = new Sequences();
  /** Terms of a source of one selector, the most frequent kind. */
  readonly #single = Int32Array.of(1, 0, 0);
  readonly #references = new Column();
  #unused: number[] = [];
  readonly #bySelector = new Links();
  readonly #byGroup = new Links();
  readonly #groupIds = new Ids();
  readonly #groups = new Map<string, Group>();
  readonly #groupById = new Map<number, Group>();

  constructor(labels: LabelIndex, texts: TextTable) {
    this.#labels = labels;
    this.#texts = texts;
  }

  /** Makes room for so many sources, known beforehand. */
  reserve(sources: number): void {
    this.#terms.reserve(sources, 4);
    this.#references.reserve(sources);
    this.#bySelector.reserve(2 * sources, sources, sources);
  }

  get size(): number {
    return this.#terms.size;
  }

  /** Takes a reference to the source of these peers. */
  hold(peers: readonly PeerSpec[]): number {
    const workloads = peers.length === 1 ? peers[0]?.workloads : undefined;
    return workloads === undefined ? this.#holdAll(peers) : this.#holdSingle(workloads);
  }

  /** The source of one selector, as most rules have. */
  #holdSingle(workloads: SelectorSpec): number {
    const selector = this.#labels.holdSelector(workloads);
    this.#single[1] = selector;
    const source = this.#terms.intern(this.#single);
    if (this.#terms.created) {
      this.#references.put(source, 0);
      this.#bySelector.link(selector, source);
    } else {
      this.#labels.releaseSelector(selector);
    }
    this.#references.add(source, 1);
    return source;
  }

  #holdAll(peers: readonly PeerSpec[]): number {
    const selectors: number[] = [];
    const groups: number[] = [];
    const prefixes: number[] = [];
    for (const { workloads, addressGroup, cidr } of peers) {
      if (workloads !== undefined) {
        addOnce(this.#labels.holdSelector(workloads), selectors, (selector) => {
          this.#labels.releaseSelector(selector);
        });
      }
      if (addressGroup !== undefined) {
        addOnce(this.#groupOf(addressGroup).id, groups, () => {});
      }
      if (cidr !== undefined) {
        addOnce(this.#texts.holdCidr(cidr), prefixes, (prefix) => {
          this.#texts.release(prefix);
        });
      }
    }
    const source = this.#terms.intern([
      selectors.length,
      ...sorted(selectors),
      groups.length,
      ...sorted(groups),
      ...sorted(prefixes),
    ]);
    return this.#keep(source, selectors, groups, prefixes);
  }

  release(source: number): void {
    if (this.#references.add(source, -1) === 0) {
      this.#unused.push(source);
    }
  }

  /** Forgets sources that nobody holds and names them. */
  sweep(): readonly number[] {
    const gone = [...new Set(this.#unused)].filter((source) => this.#references.at(source) === 0);
    this.#unused = [];
    for (const source of gone) {
      this.#drop(source);
    }
    return gone;
  }

  /** Defines a group, or takes its definition back; gives the prefixes that came or went. */
  defineGroup(name: string, cidrs: readonly string[] | undefined): number[] {
    const group = this.#groupOf(name);
    const before = group.members ?? NOTHING;
    const after = new Set<number>();
    for (const cidr of cidrs ?? []) {
      const text = this.#texts.holdCidr(cidr);
      if (after.has(text)) {
        this.#texts.release(text);
      }
      after.add(text);
    }
    group.members = cidrs === undefined ? undefined : after;
    for (const text of before) {
      this.#texts.release(text);
    }
    const changed = [...after].filter((text) => !before.has(text));
    for (const text of before) {
      if (!after.has(text)) {
        changed.push(text);
      }
    }
    return changed;
  }

  /** Sources that name a group; forgets the group if there are none and nobody defines it. */
  sourcesOfGroup(name: string): readonly number[] {
    const group = this.#groups.get(name);
    if (group === undefined) {
      return [];
    }
    const count = this.#byGroup.countOfLeft(group.id);
    this.#forgetGroup(group);
    return Array.from({ length: count }, (_, index) => this.#byGroup.rightAt(group.id, index));
  }

  /** Number of sources that a selector feeds. */
  countOfSelector(selector: number): number {
    return this.#bySelector.countOfLeft(selector);
  }

  ofSelectorAt(selector: number, index: number): number {
    return this.#bySelector.rightAt(selector, index);
  }

  selectorCount(source: number): number {
    return this.#terms.at(source, 0);
  }

  selectorAt(source: number, index: number): number {
    return this.#terms.at(source, 1 + index);
  }

  /** True if a source takes in nothing but selectors. */
  isSelectorsOnly(source: number): boolean {
    return this.#terms.length(source) === this.selectorCount(source) + 2;
  }

  /** True if a prefix is authored in a source or in one of its groups. */
  names(source: number, text: number): boolean {
    const groupsAt = 1 + this.selectorCount(source);
    const groups = this.#terms.at(source, groupsAt);
    for (let index = groupsAt + 1 + groups; index < this.#terms.length(source); index++) {
      if (this.#terms.at(source, index) === text) {
        return true;
      }
    }
    for (let index = 1; index <= groups; index++) {
      const group = this.#groupById.get(this.#terms.at(source, groupsAt + index));
      if (group?.members?.has(text)) {
        return true;
      }
    }
    return false;
  }

  /** Every prefix that is authored in a source or in one of its groups. */
  *prefixes(source: number): Generator<number> {
    const groupsAt = 1 + this.selectorCount(source);
    const groups = this.#terms.at(source, groupsAt);
    for (let index = groupsAt + 1 + groups; index < this.#terms.length(source); index++) {
      yield this.#terms.at(source, index);
    }
    for (let index = 1; index <= groups; index++) {
      const group = this.#groupById.get(this.#terms.at(source, groupsAt + index));
      yield* group?.members ?? NOTHING;
    }
  }

  /** Counts one more reference; what a source holds already is released, since it was held again. */
  #keep(
    source: number,
    selectors: readonly number[],
    groups: readonly number[],
    prefixes: readonly number[],
  ): number {
    if (this.#terms.created) {
      this.#references.put(source, 0);
      for (const selector of selectors) {
        this.#bySelector.link(selector, source);
      }
      for (const group of groups) {
        this.#byGroup.link(group, source);
      }
    } else {
      for (const selector of selectors) {
        this.#labels.releaseSelector(selector);
      }
      for (const prefix of prefixes) {
        this.#texts.release(prefix);
      }
    }
    this.#references.add(source, 1);
    return source;
  }

  #groupOf(name: string): Group {
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { id: this.#groupIds.take(), name, members: undefined };
      this.#groups.set(name, group);
      this.#groupById.set(group.id, group);
    }
    return group;
  }

  #forgetGroup(group: Group): void {
    if (group.members === undefined && this.#byGroup.countOfLeft(group.id) === 0) {
      this.#groups.delete(group.name);
      this.#groupById.delete(group.id);
      this.#groupIds.give(group.id);
    }
  }

  #drop(source: number): void {
    const groupsAt = 1 + this.selectorCount(source);
    const groups = this.#terms.at(source, groupsAt);
    for (let index = 1; index < groupsAt; index++) {
      this.#labels.releaseSelector(this.#terms.at(source, index));
    }
    for (let index = groupsAt + 1 + groups; index < this.#terms.length(source); index++) {
      this.#texts.release(this.#terms.at(source, index));
    }
    const named: number[] = [];
    for (let index = 1; index <= groups; index++) {
      named.push(this.#terms.at(source, groupsAt + index));
    }
    this.#bySelector.dropRight(source);
    this.#byGroup.dropRight(source);
    this.#terms.remove(source);
    for (const id of named) {
      const group = this.#groupById.get(id);
      if (group !== undefined) {
        this.#forgetGroup(group);
      }
    }
  }
}

const NOTHING: ReadonlySet<number> = new Set();

/** Adds a value unless it is there; what was held for nothing is released. */
function addOnce(value: number, values: number[], release: (value: number) => void): void {
  if (values.includes(value)) {
    release(value);
  } else {
    values.push(value);
  }
}

function sorted(values: number[]): number[] {
  return values.length < 2 ? values : values.sort((a, b) => a - b);
}
