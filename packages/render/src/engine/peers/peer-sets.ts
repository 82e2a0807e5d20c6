import type { LabelIndex } from "../labels/label-index.ts";
import type { ByteWriter } from "../store/byte-writer.ts";
import { Column } from "../store/column.ts";
import { IntLists } from "../store/int-lists.ts";
import { Marks } from "../store/marks.ts";
import { Pause } from "../store/pause.ts";
import { sortTexts } from "../store/sort-texts.ts";
import { TextSets } from "../store/text-sets.ts";
import type { TextTable } from "../store/text-table.ts";
import type { PeerSources } from "./peer-sources.ts";

/** The workloads behind peer sets. */
export interface PeerFleet {
  readonly cells: {
    countOfSet(set: number): number;
    ofSetAt(set: number, index: number): number;
    memberCount(cell: number): number;
    memberAt(cell: number, index: number): number;
  };
  setOf(workload: number): number;
  addressCount(workload: number): number;
  addressAt(workload: number, index: number): number;
  holderCount(text: number): number;
  holderAt(text: number, index: number): number;
}

/** What peer sets are made with. */
export interface PeerSetsBase {
  readonly labels: LabelIndex;
  readonly texts: TextTable;
  readonly sources: PeerSources;
  readonly fleet: () => PeerFleet;
  readonly writer: ByteWriter;
}

/** Byte that a PeerSet is hashed with. */
const PEER_SET_TYPE = 1;
/** From so many new sets on, all addresses are sorted once instead of each set. */
const BULK_SETS = 64;
/** A set with more touched texts than this and a quarter of its size is collected anew. */
const FEW_TOUCHED = 64;
const PER_STEP = 8_192;

const IDLE = 0;
const FILLED = 1;
/** To be collected anew, without what it was before. */
const NEW = 2;
/** To be collected anew and compared with what it was. */
const STALE = 3;

/**
 * The peer sets of sources that bodies use. A change names the texts that may have come or gone; at
 * the end of a flush each is looked at once, so whatever happened in between nets out.
 */
export class PeerSets {
  readonly sets: TextSets;
  readonly #base: PeerSetsBase;
  /** Number of rulesets in use that name a source. */
  readonly #uses = new Column();
  readonly #state = new Column();
  /** Texts to look at, per source. */
  readonly #touched = new IntLists("in heads");
  #dirty: number[] = [];
  /** Sets that are filled and have to follow what moves. */
  #filled = 0;
  readonly #idle = new Set<number>();
  readonly #seen = new Marks();
  /** Sources that a workload's label set feeds after it moved, and those that it fed before, too. */
  readonly #fedAfter = new Marks();
  readonly #fedBoth = new Marks();

  constructor(base: PeerSetsBase) {
    this.#base = base;
    this.sets = new TextSets({ type: PEER_SET_TYPE, texts: base.texts, writer: base.writer });
  }

  /** Makes room for so many sets, known beforehand. */
  reserve(sets: number): void {
    this.#uses.reserve(sets);
    this.#state.reserve(sets);
    this.sets.reserve(sets);
  }

  /** Takes a source into use. */
  use(source: number): void {
    if (this.#uses.add(source, 1) === 1 && this.#state.at(source) === IDLE) {
      this.#state.put(source, NEW);
      this.#dirty.push(source);
    }
  }

  /** Ends one use of a source. */
  disuse(source: number): void {
    if (this.#uses.add(source, -1) === 0) {
      this.#idle.add(source);
    }
  }

  /** Lets go of sets that nobody uses any more. */
  sweep(): void {
    for (const source of this.#idle) {
      if (this.#uses.at(source) === 0) {
        this.#filled -= this.#state.at(source) === NEW ? 0 : 1;
        this.sets.drop(source);
        this.#touched.clear(source);
        this.#state.put(source, IDLE);
      }
    }
    this.#idle.clear();
  }

  /** A text may have come to a source or left it. */
  touch(source: number, text: number): void {
    const state = this.#state.at(source);
    if (state !== FILLED) {
      return;
    }
    const count = this.#touched.push(source, text) + 1;
    if (count === 1) {
      this.#dirty.push(source);
    } else if (count > FEW_TOUCHED && count * 4 > this.sets.size(source)) {
      this.#state.put(source, STALE);
      this.#touched.clear(source);
    }
  }

  /** A workload's label set or addresses changed; -1 stands for no set. */
  moved(
    before: number,
    beforeTexts: ArrayLike<number>,
    after: number,
    afterTexts: ArrayLike<number>,
  ): void {
    if (this.#filled === 0) {
      return;
    }
    this.#fedBoth.clear();
    if (before === after) {
      this.#touchSources(after, [beforeTexts, afterTexts]);
      return;
    }
    if (before >= 0 && after >= 0 && sameTexts(beforeTexts, afterTexts)) {
      this.#markBoth(before, after);
    }
    this.#touchSources(before, [beforeTexts]);
    this.#touchSources(after, [afterTexts]);
  }

  /** Brings every set in line with the fleet; the sets that changed. */
  *update(): Generator<void, readonly number[]> {
    const dirty = this.#dirty;
    this.#dirty = [];
    const changed: number[] = [];
    const fresh: number[] = [];
    const pause = new Pause(PER_STEP);
    for (let index = 0; index < dirty.length; index++) {
      const source = dirty[index] ?? 0;
      if (pause.isDue(1 + this.#touched.length(source))) {
        yield;
      }
      const state = this.#state.at(source);
      if (state === NEW) {
        fresh.push(source);
      } else if (state === STALE) {
        this.#state.put(source, FILLED);
        const texts = yield* sortTexts(this.#collect(source), this.#base.texts);
        if (this.sets.replace(source, texts)) {
          changed.push(source);
        }
      } else if (state === FILLED && this.#look(source)) {
        changed.push(source);
      }
    }
    yield* this.#fillAll(fresh);
    return changed;
  }

  *#fillAll(fresh: readonly number[]): Generator<void, void> {
    const single: number[] = [];
    const bulk: number[] = [];
    this.#filled += fresh.length;
    this.#sortOut(fresh, single, bulk);
    const pause = new Pause(PER_STEP);
    for (const source of single) {
      const texts = yield* sortTexts(this.#collect(source), this.#base.texts);
      this.sets.fill(source, texts);
      if (pause.isDue(texts.length)) {
        yield;
      }
    }
    if (bulk.length > 0) {
      yield* this.#fillInOnePass(bulk);
    }
  }

  /** Tells sources that are filled one by one from those that are filled in one pass. */
  #sortOut(fresh: readonly number[], single: number[], bulk: number[]): void {
    for (const source of fresh) {
      this.#state.put(source, FILLED);
      const inBulk = fresh.length >= BULK_SETS && this.#base.sources.isSelectorsOnly(source);
      (inBulk ? bulk : single).push(source);
    }
  }

  /** Looks at each touched text of a source; true if the set changed. */
  #look(source: number): boolean {
    const added: number[] = [];
    const removed: number[] = [];
    this.#seen.clear();
    for (let index = this.#touched.length(source) - 1; index >= 0; index--) {
      const text = this.#touched.at(source, index);
      if (!this.#seen.add(text)) {
        continue;
      }
      const has = this.sets.find(source, text) >= 0;
      const wanted = this.#contains(source, text);
      if (wanted && !has) {
        added.push(text);
      } else if (has && !wanted) {
        removed.push(text);
      }
    }
    this.#touched.truncate(source);
    if (added.length + removed.length === 0) {
      return false;
    }
    this.sets.change(source, added, removed);
    return true;
  }

  /** True if a text belongs to a source: authored there, or an address of a workload it selects. */
  #contains(source: number, text: number): boolean {
    const { sources, labels } = this.#base;
    const fleet = this.#base.fleet();
    for (let holder = fleet.holderCount(text) - 1; holder >= 0; holder--) {
      const set = fleet.setOf(fleet.holderAt(text, holder));
      for (let index = sources.selectorCount(source) - 1; index >= 0; index--) {
        if (set >= 0 && labels.matches(sources.selectorAt(source, index), set)) {
          return true;
        }
      }
    }
    return sources.names(source, text);
  }

  /** Every text of a source, in no order. */
  #collect(source: number): Int32Array<ArrayBuffer> {
    const { sources, labels } = this.#base;
    const { cells } = this.#base.fleet();
    const found: number[] = [];
    this.#seen.clear();
    for (const text of sources.prefixes(source)) {
      this.#see(text, found);
    }
    for (let index = sources.selectorCount(source) - 1; index >= 0; index--) {
      const selector = sources.selectorAt(source, index);
      for (let at = labels.setCount(selector) - 1; at >= 0; at--) {
        const set = labels.setAt(selector, at);
        for (let cell = cells.countOfSet(set) - 1; cell >= 0; cell--) {
          this.#collectCell(cells.ofSetAt(set, cell), found);
        }
      }
    }
    return Int32Array.from(found);
  }

  #collectCell(cell: number, found: number[]): void {
    const fleet = this.#base.fleet();
    for (let member = fleet.cells.memberCount(cell) - 1; member >= 0; member--) {
      const workload = fleet.cells.memberAt(cell, member);
      for (let index = fleet.addressCount(workload) - 1; index >= 0; index--) {
        this.#see(fleet.addressAt(workload, index), found);
      }
    }
  }

  #see(text: number, found: number[]): void {
    if (this.#seen.add(text)) {
      found.push(text);
    }
  }

  /** Sorts every address once and appends each to the sets that it belongs to. */
  *#fillInOnePass(fresh: readonly number[]): Generator<void, void> {
    const { sources, texts } = this.#base;
    const fleet = this.#base.fleet();
    const feeds = new IntLists("in heads");
    const pause = new Pause(PER_STEP);
    for (let index = 0; index < fresh.length; index++) {
      const source = fresh[index] ?? 0;
      if (pause.isDue(1 + sources.selectorCount(source))) {
        yield;
      }
      this.#addFeeds(source, feeds);
    }
    yield;
    const held = new Int32Array(texts.bound);
    let length = 0;
    for (let text = 0; text < texts.bound; text++) {
      if (fleet.holderCount(text) > 0) {
        held[length++] = text;
      }
    }
    const sorted = yield* sortTexts(held.subarray(0, length), texts);
    for (let at = 0; at < length; at++) {
      this.#appendText(sorted[at] ?? 0, feeds);
      if (pause.isDue(1)) {
        yield;
      }
    }
  }

  /** Adds a source to the label sets that feed it. */
  #addFeeds(source: number, feeds: IntLists): void {
    const { sources, labels } = this.#base;
    for (let index = sources.selectorCount(source) - 1; index >= 0; index--) {
      const selector = sources.selectorAt(source, index);
      for (let at = labels.setCount(selector) - 1; at >= 0; at--) {
        feeds.push(labels.setAt(selector, at), source);
      }
    }
  }

  /** Appends a text to the sets of the sources that its holders' label sets feed. */
  #appendText(text: number, feeds: IntLists): void {
    const fleet = this.#base.fleet();
    for (let holder = fleet.holderCount(text) - 1; holder >= 0; holder--) {
      const set = fleet.setOf(fleet.holderAt(text, holder));
      for (let index = set < 0 ? -1 : feeds.length(set) - 1; index >= 0; index--) {
        const source = feeds.at(set, index);
        if (this.sets.last(source) !== text) {
          this.sets.append(source, text);
        }
      }
    }
  }

  /** Marks the sources that two label sets feed both. */
  #markBoth(before: number, after: number): void {
    this.#fedAfter.clear();
    this.#eachSource(after, (source) => this.#fedAfter.add(source));
    this.#eachSource(before, (source) => {
      if (this.#fedAfter.has(source)) {
        this.#fedBoth.add(source);
      }
    });
  }

  /** Touches texts in the sources that a label set feeds, but not in those marked as fed by both. */
  #touchSources(set: number, texts: readonly ArrayLike<number>[]): void {
    this.#eachSource(set, (source) => {
      if (this.#fedBoth.has(source)) {
        return;
      }
      for (const list of texts) {
        for (let text = 0; text < list.length; text++) {
          this.touch(source, list[text] ?? 0);
        }
      }
    });
  }

  #eachSource(set: number, visit: (source: number) => void): void {
    if (set < 0) {
      return;
    }
    const { labels, sources } = this.#base;
    for (let at = labels.selectorCount(set) - 1; at >= 0; at--) {
      const selector = labels.selectorAt(set, at);
      for (let index = sources.countOfSelector(selector) - 1; index >= 0; index--) {
        visit(sources.ofSelectorAt(selector, index));
      }
    }
  }
}

function sameTexts(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  for (let index = 0; index < a.length; index++) {
    if (a[index] !== b[index]) {
      return false;
    }
  }
  return a.length === b.length;
}
