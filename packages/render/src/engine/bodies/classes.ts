import type { PeerSets } from "../peers/peer-sets.ts";
import type { Decisions, RouteList } from "../routes/decisions.ts";
import type { RuleBook } from "../rules/rule-book.ts";
import type { RuleList, RuleLists } from "../rules/rule-lists.ts";
import { Column } from "../store/column.ts";
import { IntLists } from "../store/int-lists.ts";
import { Links } from "../store/links.ts";
import { Marks } from "../store/marks.ts";
import { Sequences } from "../store/sequences.ts";
import type { CellMode, Cells } from "../workloads/cells.ts";
import type { PolicyClass } from "./policy-class.ts";

/** What classes are made of. */
export interface ClassesBase {
  readonly cells: Cells;
  readonly book: RuleBook;
  readonly lists: RuleLists;
  readonly decisions: Decisions;
  readonly peers: PeerSets;
}

const NO_CLASS = 0;

/** The policy classes and the cells that are in each. */
export class Classes {
  readonly #base: ClassesBase;
  readonly #keys = new Sequences();
  readonly #classes: (PolicyClass | undefined)[] = [];
  /** Class of a cell, + 1, and its place in the class. */
  readonly #ofCell = new Column();
  readonly #place = new Column();
  readonly #cells = new IntLists("in heads");
  readonly #byList = new Links();
  readonly #byRoutes = new Links();
  /** Classes to be rendered. */
  #dirty: PolicyClass[] = [];
  readonly #isDirty = new Marks();
  /** Classes that lost a cell and may be empty. */
  #left = new Set<PolicyClass>();
  readonly #key = new Int32Array(3);

  constructor(base: ClassesBase) {
    this.#base = base;
  }

  /** Makes room for so many classes and cells, known beforehand. */
  reserve(classes: number, cells: number): void {
    this.#keys.reserve(classes, 4);
    this.#ofCell.reserve(cells);
    this.#place.reserve(cells);
    this.#cells.reserve(classes, cells);
    this.#byList.reserve(classes, classes, classes);
    this.#classes.length = Math.max(this.#classes.length, classes);
  }

  get size(): number {
    return this.#keys.size;
  }

  ofCell(cell: number): PolicyClass | undefined {
    return this.#classes[this.#ofCell.at(cell) - 1];
  }

  at(index: number): PolicyClass | undefined {
    return this.#classes[index];
  }

  /** Puts a cell into the class that it belongs to. */
  place(cell: number, routes: RouteList): void {
    const { cells, lists } = this.#base;
    const list = lists.of(cells.set(cell));
    const policyClass = this.#intern(list, cells.mode(cell), routes);
    if (this.ofCell(cell) === policyClass) {
      return;
    }
    this.leave(cell);
    this.#ofCell.put(cell, policyClass.index + 1);
    this.#place.put(cell, this.#cells.push(policyClass.index, cell));
    if (policyClass.head === undefined) {
      this.markDirty(policyClass);
    }
  }

  /** Takes a cell out of its class. */
  leave(cell: number): void {
    const policyClass = this.ofCell(cell);
    if (policyClass === undefined) {
      return;
    }
    const place = this.#place.at(cell);
    this.#place.put(this.#cells.swapOut(policyClass.index, place), place);
    this.#ofCell.put(cell, NO_CLASS);
    this.#left.add(policyClass);
  }

  cellCount({ index }: PolicyClass): number {
    return this.#cells.length(index);
  }

  cellAt({ index }: PolicyClass, at: number): number {
    return this.#cells.at(index, at);
  }

  /** True if there is a workload in the class. */
  isInhabited(policyClass: PolicyClass): boolean {
    return this.#cells.length(policyClass.index) > 0;
  }

  markDirty(policyClass: PolicyClass): void {
    if (this.#isDirty.add(policyClass.index)) {
      this.#dirty.push(policyClass);
    }
  }

  /** Marks the classes of bodies that have a peer set. */
  peersChanged(source: number): void {
    const { book, lists } = this.#base;
    for (let rule = book.countOfSource(source) - 1; rule >= 0; rule--) {
      const ruleset = book.ofSourceAt(source, rule);
      for (let at = lists.countOfRuleset(ruleset) - 1; at >= 0; at--) {
        this.#markAll(this.#byList, lists.ofRulesetAt(ruleset, at));
      }
    }
  }

  /** Marks the classes of bodies that have a route list. */
  routesChanged(list: number): void {
    this.#markAll(this.#byRoutes, list);
  }

  /** Classes to be rendered; none is dirty any more. */
  takeDirty(): readonly PolicyClass[] {
    const dirty = this.#dirty;
    this.#dirty = [];
    this.#isDirty.clear();
    return dirty;
  }

  /**
   * Forgets classes without workloads. When one returns its class is made and rendered anew, so
   * nothing that changed meanwhile is missed. Gives what is forgotten.
   */
  sweep(): readonly PolicyClass[] {
    const gone = [...this.#left].filter((each) => !this.isInhabited(each));
    this.#left = new Set();
    for (const policyClass of gone) {
      this.#drop(policyClass);
    }
    return gone;
  }

  #markAll(links: Links, list: number): void {
    for (let index = links.countOfLeft(list) - 1; index >= 0; index--) {
      const policyClass = this.#classes[links.rightAt(list, index)];
      if (policyClass !== undefined) {
        this.markDirty(policyClass);
      }
    }
  }

  #intern(list: RuleList, mode: CellMode, routes: RouteList): PolicyClass {
    this.#key[0] = list.index;
    this.#key[1] = modeNumber(mode);
    this.#key[2] = routes.index;
    const index = this.#keys.intern(this.#key);
    const known = this.#classes[index];
    if (!this.#keys.created && known !== undefined) {
      return known;
    }
    const policyClass: PolicyClass = {
      index,
      list,
      mode,
      routes,
      head: undefined,
      headBefore: undefined,
      renderedIn: 0,
    };
    this.#classes[index] = policyClass;
    this.#base.lists.keep(list);
    this.#base.decisions.keepList(routes);
    this.#byList.link(list.index, index);
    if (routes.decisions.length > 0) {
      this.#byRoutes.link(routes.index, index);
    }
    return policyClass;
  }

  #drop(policyClass: PolicyClass): void {
    const { index, list, routes } = policyClass;
    this.#byList.dropRight(index);
    this.#byRoutes.dropRight(index);
    this.#cells.clear(index);
    this.#base.lists.release(list);
    this.#base.decisions.releaseList(routes);
    this.#classes[index] = undefined;
    this.#keys.remove(index);
  }
}

function modeNumber({ mode, weaker }: CellMode): number {
  return ["visibility", "simulation", "enforced"].indexOf(mode) * 2 + (weaker ? 1 : 0);
}
